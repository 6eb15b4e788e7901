//go:build linux || (darwin && maccheck)

package main_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt/sbpltest"
)

// matrixTree is what the policies of the matrix are about: names that quoting
// trips over, a repository, links. "/" at the end is a directory, "!" a program.
var matrixTree = []string{
	"a/f", "a/tool!", "a/k.key", "a/empty/", "a/sub/f", "a/sub/tool!", "a/sub/deep/f", "a/sub/deep/k.key",
	"a/sp ace/f", `a/q"uo\te/f`, "a/caf\u00e9/f",
	"b/f", "b/tool!", "b/x/f", "b/x/y/f", "b/x/empty/",
	"w/.git/HEAD", "w/.git/config", "w/.git/hooks/pre-commit!", "w/.git/objects/o", "w/.git/refs/r",
	"w/src/f", "w/src/tool!", "w/.envrc", "w/readme", "c/f",
}

// matrixLinks are symbolic links and where they lead.
var matrixLinks = map[string]string{"w/to-a": "a/f", "b/to-w": "w/readme", "a/to-b": "b/x/f", "c/to-deep": "a/sub/deep/f"}

// matrixRoots may be granted or denied; the last ones do not exist.
var matrixRoots = []string{
	"a", "a", "a/sub", "a/sub/deep", "a/sp ace", `a/q"uo\te`, "a/caf\u00e9", "a/f", "a/empty",
	"b", "b/x", "b/x/y", "b/x/f", "w", "w", "w/src", "w/.git/objects", "w/readme",
	"a/none", "b/x/none", "w/none",
}

// matrixPolicy is a policy as flags, with what the allowed differences ask.
type matrixPolicy struct {
	flags   []string
	granted []string // absolute roots
	absent  []string // denied, and not there
	pattern bool     // *.key is denied
}

// newMatrixPolicy makes the n-th policy on a tree at root.
func newMatrixPolicy(n uint64, root string) matrixPolicy {
	rng := rand.New(rand.NewPCG(n, 0xb0b))
	var p matrixPolicy
	used := map[string]bool{}
	for range 2 + rng.IntN(5) {
		name := matrixRoots[rng.IntN(len(matrixRoots))]
		if used[name] {
			continue
		}
		used[name] = true
		at, missing := root+"/"+name, strings.HasSuffix(name, "/none")
		switch kind := rng.IntN(10); {
		case missing || kind >= 8:
			p.flags = append(p.flags, "--deny", strings.ReplaceAll(at, `\`, `\\`))
			if missing {
				p.absent = append(p.absent, at)
			}
		case kind >= 3:
			p.flags, p.granted = append(p.flags, "--rw", at), append(p.granted, at)
		default:
			p.flags, p.granted = append(p.flags, "--ro", at), append(p.granted, at)
		}
	}
	if len(p.granted) == 0 {
		p.flags, p.granted = append(p.flags, "--rw", root+"/a"), append(p.granted, root+"/a")
	}
	if rng.IntN(3) == 0 {
		p.flags, p.pattern = append(p.flags, "--deny", "*.key"), true
	}
	return p
}

// growMatrixTree makes the tree below root, anew.
func growMatrixTree(root string) error {
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	for _, name := range matrixTree {
		p := filepath.Join(root, strings.TrimRight(name, "!"))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(p, 0o755); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(name, "!") {
			mode = 0o755
		}
		if err := os.WriteFile(p, []byte("#!/bin/sh\n:\n"), mode); err != nil {
			return err
		}
	}
	for from, to := range matrixLinks {
		if err := os.Symlink(root+"/"+to, root+"/"+from); err != nil {
			return err
		}
	}
	return nil
}

// question is one access, for the probe and for the interpreter.
type question struct {
	Do, Path, To string
	Object, Into identity
	Mode         uint32
	via          string // link that Path leads through: where Path ends
}

type identity struct{ Dev, Ino uint64 }

func identityOf(p string) identity {
	var st syscall.Stat_t
	if syscall.Lstat(p, &st) != nil {
		return identity{}
	}
	return identity{uint64(st.Dev), uint64(st.Ino)}
}

// matrixQuestions asks for every access that makes sense on every path of the
// tree as it is now. What gives a file another inode comes last.
func matrixQuestions(root string) (list []question, err error) {
	var last []question
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		about := func(do, to string) question {
			q := question{Do: do, Path: p, To: to, Object: identityOf(p), Mode: uint32(info.Mode().Perm())}
			if to != "" {
				q.Into = identityOf(filepath.Dir(to))
			}
			return q
		}
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target := root + "/" + matrixLinks[strings.TrimPrefix(p, root+"/")]
			for _, do := range []string{"read", "write"} {
				list = append(list, question{Do: do, Path: p, via: target, Object: identityOf(target)})
			}
			list = append(list, about("stat", ""))
		case d.IsDir():
			list = append(list, aboutDirectory(p, about)...)
			if d.Name() == "empty" {
				last = append(last, about("unlink", ""))
			}
		default:
			list = append(list, about("read", ""), about("write", ""), about("stat", ""), about("chmod", ""),
				about("rename", p+".moved"), about("link", p+".linked"),
				about("rename", root+"/a/sub/moved"), about("link", root+"/w/src/linked"))
			if info.Mode()&0o100 != 0 {
				list = append(list, about("exec", ""))
			}
			last = append(last, about("unlink", ""))
		}
		return nil
	})
	return append(list, last...), err
}

func aboutDirectory(p string, about func(do, to string) question) []question {
	list := []question{about("list", ""), about("stat", ""), about("chmod", ""), about("rename", p+".moved")}
	for do, name := range map[string]string{"create": "new", "mkdir": "none", "symlink": "alias"} {
		q := about(do, "")
		q.Path = p + "/" + name
		list = append(list, q)
	}
	late := about("create", "")
	late.Path = p + "/late.key"
	slices.SortFunc(list, func(a, b question) int { return strings.Compare(a.Do, b.Do) })
	return append(list, late)
}

// action is the question in the interpreter's terms.
func (q question) action() sbpltest.Action {
	a := sbpltest.Action{Name: q.Do, Path: macName(q.Path), Type: "REGULAR-FILE"}
	if q.To != "" {
		a.To = macName(q.To)
	}
	switch {
	case q.via != "":
		a.Path, a.Via = macName(q.via), []string{macName(q.Path)}
	case q.Do == "mkdir":
		a.Name, a.Type = "create", "DIRECTORY"
	case q.Do == "symlink":
		a.Name, a.Type = "create", "SYMLINK"
	case q.Do == "list":
		a.Type = "DIRECTORY"
	}
	return a
}

// macName is the path under which macOS would report p: its temporary
// directories lie below /private.
func macName(p string) string {
	for _, link := range []string{"/tmp", "/var", "/etc"} {
		if policy.Contains(link, p) {
			return "/private" + p
		}
	}
	return p
}

// above reports whether p is a directory above a granted root.
func (m matrixPolicy) above(p string) bool {
	return slices.ContainsFunc(m.granted, func(root string) bool { return root != p && policy.Contains(p, root) })
}

// reserved reports whether p is a denied place that does not exist, or in one.
func (m matrixPolicy) reserved(p string) bool {
	return slices.ContainsFunc(m.absent, func(root string) bool { return policy.Contains(root, p) })
}

// aboveReserved reports whether p is a directory above such a place.
func (m matrixPolicy) aboveReserved(p string) bool {
	return slices.ContainsFunc(m.absent, func(root string) bool { return root != p && policy.Contains(p, root) })
}
