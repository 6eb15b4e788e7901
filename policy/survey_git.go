package policy

import (
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// neverInside tells the parts of a git directory that hold no other one, and
// by far most of its files. modules and worktrees are searched.
func neverInside(name string) bool {
	switch name {
	case "objects", "refs", "logs", gitHooks, "info", "lfs":
		return true
	}
	return false
}

// dotGit protects the entry by which dir is a repository. A directory is left
// to the walk; a file or a link leads to a git directory elsewhere.
func (s *survey) dotGit(dir string, root bool) {
	p := join(dir, dotGit)
	info, err := s.lstat(p)
	switch {
	case err == nil && info.IsDir():
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		s.followed(p)
	default:
		s.look(p, dotGitName, root)
		if text, ok := strings.CutPrefix(readPath(p), "gitdir: "); ok {
			s.followed(against(dir, text))
		}
	}
}

// followed protects the git directory that p leads to.
func (s *survey) followed(p string) {
	t := Trigger{Path: p, Tool: dotGitName.tool}
	r, err := Resolve(p)
	if err != nil {
		return
	}
	for _, l := range r.Links {
		if s.writable(l.Path) {
			s.loose(t, l)
		}
	}
	switch {
	case r.Type == TypeDir:
		s.gitDirectory(r.Path)
	case r.Type == TypeMissing && s.writable(r.Path):
		t.Path = r.Path
		s.missing(t)
	}
}

// gitDirectory protects what git obeys in dir: for that of a linked worktree
// the way to the repository's, which holds the rest.
func (s *survey) gitDirectory(dir string) {
	if s.gits[dir] {
		return
	}
	s.gits[dir] = true
	common := readPath(join(dir, gitCommonDir))
	if common == "" || common == "." {
		s.names(dir, gitNames, true)
		return
	}
	s.names(dir, []protectedName{gitNames[2], gitNames[3], backLinkName}, true)
	if r, err := Resolve(against(dir, common)); err == nil && r.Type == TypeDir {
		s.gitDirectory(r.Path)
	}
}

// readPath returns the one line of a small file that holds a path, or "". It
// does not wait for a FIFO that stands in its place.
func readPath(p string) string {
	f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(f, 1<<13))
	return strings.TrimRight(string(text), "\r\n")
}

// against reads a path as git does: relative ones count from dir.
func against(dir, p string) string {
	if path.IsAbs(p) {
		return p
	}
	return dir + "/" + p
}
