//go:build unix

package files

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sbx-run/sbx/policy"
)

// DefaultPattern matches everything below the directory that is listed.
const DefaultPattern = "**/*"

// List returns what the sandbox shows below the directory at the sandbox path
// p and the pattern matches, sorted, relative to p; directories end in "/".
// "." is the top: in the path form, all mounts by name. Globs are doublestar's,
// and names that start with a dot are like any other.
//
// A link to a place that the sandbox shows is listed as what it leads to, but
// not followed. What cannot be looked into, or goes away meanwhile, is left
// out.
func (f Files) List(p, pattern string) ([]string, error) {
	if err := checkListPattern(pattern); err != nil {
		return nil, err
	}
	l := listing{f: f, pattern: pattern, depth: depthOf(pattern)}
	if (p == "." || p == "./") && !f.hasRoot() && len(f.sandbox.ReadableRoots()) > 0 {
		for _, root := range f.view.Readable() {
			if name, ok := f.sandbox.SandboxPath(root); ok {
				l.start(root, name)
			}
		}
		return l.sorted(), nil
	}
	host, roots, err := f.sandbox.ReadableBelow(p)
	if err != nil {
		return nil, err
	}
	if err := f.checkDirectory(p, host, roots); err != nil {
		return nil, err
	}
	for _, root := range roots {
		l.start(root, strings.TrimPrefix(strings.TrimPrefix(root, host), "/"))
	}
	return l.sorted(), nil
}

// hasRoot reports whether the sandbox has one directory at the virtual root.
func (f Files) hasRoot() bool {
	return slices.ContainsFunc(f.view.Mounts, func(m policy.Mount) bool { return m.Name == "/" })
}

func checkListPattern(pattern string) error {
	problem := ""
	switch err := policy.CheckPattern(pattern); {
	case pattern == "":
		problem = "it is empty; " + DefaultPattern + " matches everything"
	case strings.IndexByte(pattern, 0) >= 0:
		problem = "it holds a NUL"
	case pattern[0] == '/':
		problem = "it counts from the directory that is listed, so it cannot start with '/'"
	case slices.Contains(strings.Split(pattern, "/"), ".."):
		problem = "'..' is not allowed"
	case err != nil:
		problem = err.Error()
	}
	if problem == "" {
		return nil
	}
	return &policy.RequestError{Argument: "pattern", Value: pattern, Problem: problem}
}

// depthOf returns how many components a match can have at most.
func depthOf(pattern string) int {
	if strings.Contains(pattern, "**") {
		return 1 << 20
	}
	return strings.Count(pattern, "/") + 1
}

// checkDirectory refuses to list a file, and what does not exist.
func (f Files) checkDirectory(asked, host string, roots []string) error {
	if roots[0] != host {
		return nil // only places below are shown
	}
	mount, _ := f.view.MountOf(host)
	parent, name := split(host)
	d, err := openDir(parent, mount.Root)
	if err != nil {
		return f.failed(policy.Read, asked, host, err)
	}
	defer d.close()
	st, err := d.stat(name)
	if err != nil {
		return f.failed(policy.Read, asked, host, err)
	}
	if is := typeName(uint32(st.Mode)); is != "directory" {
		return &WrongTypeError{Op: policy.Read, Path: asked, Is: is, Want: "directory"}
	}
	return nil
}

// listing collects the matches of one List.
type listing struct {
	f       Files
	pattern string
	depth   int
	found   []string
}

func (l *listing) sorted() []string {
	slices.Sort(l.found)
	return slices.Compact(l.found)
}

// start lists one place at which reading begins; name is what it is called in
// the result, "" for the listed directory itself.
func (l *listing) start(host, name string) {
	mount, _ := l.f.view.MountOf(host)
	parent, base := split(host)
	above, err := openDir(parent, mount.Root)
	if err != nil {
		return
	}
	defer above.close()
	st, err := above.stat(base)
	if err != nil {
		return
	}
	if typeName(uint32(st.Mode)) != "directory" {
		l.add(name, "")
		return
	}
	l.add(name, "/")
	if d, err := above.sub(base, false); err == nil {
		l.walk(d, host, name)
		d.close()
	}
}

// walk lists what lies in d, which is at host.
func (l *listing) walk(d dir, host, name string) {
	if name != "" && strings.Count(name, "/")+1 >= l.depth {
		return
	}
	entries, err := d.names()
	if err != nil {
		return
	}
	for _, e := range entries {
		below, called := path.Join(host, e.Name()), path.Join(name, e.Name())
		if !l.f.view.CanRead(below) {
			continue // what is shown further down is a start of its own
		}
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			l.addLink(below, called)
		case !e.IsDir():
			l.add(called, "")
		default:
			l.add(called, "/")
			if sub, err := d.sub(e.Name(), false); err == nil {
				l.walk(sub, below, called)
				sub.close()
			}
		}
	}
}

// addLink adds a link as what it leads to, if the sandbox shows that.
func (l *listing) addLink(host, name string) {
	r, decision, err := l.f.view.Look(policy.Read, host)
	switch {
	case err != nil || !decision.Allowed || r.Type == policy.TypeMissing:
	case r.Type == policy.TypeDir:
		l.add(name, "/")
	default:
		l.add(name, "")
	}
}

func (l *listing) add(name, mark string) {
	if ok, err := doublestar.Match(l.pattern, name); ok && err == nil && name != "" {
		l.found = append(l.found, name+mark)
	}
}
