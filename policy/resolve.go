package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links one look-up may cross, as in the
// kernel (path_resolution(7)).
const maxLinks = 40

// Resolution is what a host path leads to at the moment of the look-up. It
// explains and plans; the launcher opens what it mounts and checks that.
type Resolution struct {
	Path  string   // canonical: no component is a symbolic link
	Type  FileType // TypeMissing where a component does not exist, TypeUnknown where we may not look
	Size  int64    // bytes, of a regular file; 0 for anything else
	Links []Link   // the links crossed, in order

	// left holds the directories that were left through ".." behind a link.
	// One before any link is the asker's way to name a place.
	left []string
}

// Resolve follows path, which must be absolute, the way the kernel does:
// component by component, ".." after links are followed. Components that do
// not exist are kept as written. Errors wrap fs.ErrNotExist for a ".." out of
// what does not exist, fs.ErrPermission for one out of what we may not look
// at, ENOTDIR for a component below a file. It is the only file access of
// this package besides Expand.
func Resolve(p string) (Resolution, error) {
	r, err := resolve(p)
	if err != nil {
		return Resolution{}, err
	}
	return r, nil
}

// Lookup resolves many paths at one moment: a directory that one of them has
// led through is not looked at again for the next. The zero value has seen
// nothing; nil remembers nothing.
type Lookup struct{ dirs map[string]bool }

// Resolve is Resolve at the moment of l.
func (l *Lookup) Resolve(p string) (Resolution, error) {
	r, err := l.resolve(p)
	if err != nil {
		return Resolution{}, err
	}
	return r, nil
}

func (l *Lookup) saw(dir string) bool { return l != nil && l.dirs[dir] }

func (l *Lookup) note(dir string) {
	switch {
	case l == nil:
		return
	case l.dirs == nil:
		l.dirs = map[string]bool{}
	}
	l.dirs[dir] = true
}

// resolve is Resolve, and with an error also says how far it came.
func resolve(p string) (Resolution, error) { return (*Lookup)(nil).resolve(p) }

func (l *Lookup) resolve(p string) (Resolution, error) {
	r := Resolution{Path: "/", Type: TypeDir}
	if !strings.HasPrefix(p, "/") || strings.IndexByte(p, 0) >= 0 {
		return r, fmt.Errorf("not an absolute path: %q", p)
	}
	rest := strings.Split(p, "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		target, err := r.step(l, name)
		if err != nil {
			return r, &fs.PathError{Op: "resolve", Path: p, Err: err}
		}
		if target == "" {
			continue
		}
		if strings.HasPrefix(target, "/") {
			r.Path = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return r, nil
}

// step goes on by one name. If that is a link, Path stays and the link's text
// is returned.
func (r *Resolution) step(seen *Lookup, name string) (target string, err error) {
	if name == ".." {
		return "", r.leave()
	}
	next := join(r.Path, name)
	switch r.Type {
	case TypeMissing, TypeUnknown:
		r.Path = next
		return "", nil
	case TypeFile, TypeSocket:
		return "", syscall.ENOTDIR
	}
	if seen.saw(next) {
		r.Path, r.Type = next, TypeDir
		return "", nil
	}
	info, err := os.Lstat(next)
	switch {
	case err == nil && info.IsDir():
		r.Path, r.Type = next, TypeDir
		seen.note(next)
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		r.Path, r.Type = next, TypeMissing
		return "", nil
	case errors.Is(err, fs.ErrPermission):
		r.Path, r.Type = next, TypeUnknown
		return "", nil
	case err != nil:
		return "", errors.Unwrap(err)
	case info.Mode()&fs.ModeSymlink == 0:
		r.Path, r.Type = next, typeOf(info.Mode())
		if info.Mode().IsRegular() {
			r.Size = info.Size()
		}
		return "", nil
	}
	if len(r.Links) == maxLinks {
		return "", syscall.ELOOP
	}
	target, err = os.Readlink(next)
	if err != nil {
		return "", errors.Unwrap(err)
	}
	r.Links = append(r.Links, Link{Path: next, Target: target})
	return target, nil
}

// leave goes up by one directory, which must be one that we can look at: the
// kernel would have to search it.
func (r *Resolution) leave() error {
	switch r.Type {
	case TypeMissing:
		return syscall.ENOENT
	case TypeUnknown:
		return syscall.EACCES
	case TypeFile, TypeSocket:
		return syscall.ENOTDIR
	}
	if len(r.Links) > 0 && r.Path != "/" {
		r.left = append(r.left, r.Path)
	}
	r.Path = parent(r.Path)
	return nil
}

func typeOf(m fs.FileMode) FileType {
	switch {
	case m.IsDir():
		return TypeDir
	case m&fs.ModeSocket != 0:
		return TypeSocket
	}
	return TypeFile
}

// LinkedRootError reports a root that leads through a symbolic link which
// somebody other than the administrator may have placed. Following it would
// let a command of one run choose what the next run grants.
type LinkedRootError struct {
	Written string // the root as the user wrote it
	Link    string
	Target  string // canonical path that the root leads to
}

func (e *LinkedRootError) Error() string {
	return fmt.Sprintf("%s leads through the symbolic link %s to %s", e.Written, e.Link, e.Target)
}

// Hint says what to write instead.
func (e *LinkedRootError) Hint() string {
	return fmt.Sprintf("name the target itself if that is what you mean: %s", e.Target)
}

// ResolveRoot turns a root as written into its Resolution. A relative root
// counts from base, which must be canonical. A symbolic link on the way is
// followed only where it lies in a system directory (/bin, /var/run, a home
// that is a link below /home) or where the root comes out at cwd, the
// directory that the kernel holds for the caller; anywhere else the result is
// a *LinkedRootError.
func ResolveRoot(base, written, cwd string) (Resolution, error) {
	return (*Lookup)(nil).ResolveRoot(base, written, cwd)
}

// ResolveRoot is ResolveRoot at the moment of l.
func (l *Lookup) ResolveRoot(base, written, cwd string) (Resolution, error) {
	p := written
	if !strings.HasPrefix(p, "/") {
		p = base + "/" + p
	}
	r, err := l.Resolve(p)
	if err != nil {
		return r, err
	}
	for _, link := range r.Links {
		if !isSystemDir(parent(link.Path)) && r.Path != cwd {
			return r, &LinkedRootError{Written: written, Link: link.Path, Target: r.Path}
		}
	}
	return r, nil
}

// isSystemDir tells the directories whose entries only an administrator
// changes, on Linux and macOS. It looks at the name alone on purpose: as root
// every directory is writable, and the rule must not change with the user.
func isSystemDir(dir string) bool {
	switch dir {
	case "/", "/home", "/Users", "/var", "/private", "/private/var", "/run":
		return true
	}
	for _, top := range []string{"/usr", "/etc", "/nix", "/System", "/Library"} {
		if Contains(top, dir) {
			return true
		}
	}
	return false
}

// Clean returns p as a host path, or an error if p is not absolute or holds a
// NUL. It resolves "." and ".." by the text alone and follows no link.
func Clean(p string) (string, error) {
	if !strings.HasPrefix(p, "/") || strings.IndexByte(p, 0) >= 0 {
		return "", fmt.Errorf("not an absolute path: %q", p)
	}
	return path.Clean(p), nil
}
