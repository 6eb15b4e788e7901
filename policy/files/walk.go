//go:build unix

package files

import (
	"errors"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// dir is a directory that was reached without following a link. It stays the
// same directory whatever happens to its name.
type dir struct{ fd int }

func (d dir) close() { _ = unix.Close(d.fd) }

// openDir opens the directory at a canonical host path. Each component is
// looked up in the directory opened before; a symbolic link among them is
// ENOTDIR. It needs search permission alone, as the kernel does. Components
// below trusted must also be spelled as the file system has them.
func openDir(host, trusted string) (dir, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open("/", searchOnly|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return dir{}, err
	}
	at, reached := dir{fd}, ""
	for name := range strings.SplitSeq(strings.Trim(host, "/"), "/") {
		if name == "" {
			break
		}
		next, err := at.sub(name, len(reached) >= len(trusted))
		at.close()
		if err != nil {
			return dir{}, err
		}
		at, reached = next, reached+"/"+name
	}
	return at, nil
}

// sub opens a directory in d.
func (d dir) sub(name string, checkSpelling bool) (dir, error) {
	if checkSpelling {
		if err := spelled(d, name); err != nil {
			return dir{}, err
		}
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, searchOnly|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	return dir{fd}, err
}

// open opens a file in d, never through a link, and never waits for the other
// end of a pipe.
func (d dir) open(name string, flags int, perm uint32) (*os.File, error) {
	if err := spelled(d, name); err != nil && flags&unix.O_CREAT == 0 {
		return nil, err
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, perm)
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// stat looks at a name in d, without following a link.
func (d dir) stat(name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) {
		return 0, unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	return st, err
}

// names lists d.
func (d dir) names() ([]os.DirEntry, error) {
	f, err := d.open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// fstat looks at an opened file.
func fstat(f *os.File) (unix.Stat_t, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstat(int(f.Fd()), &st) })
	return st, err
}

func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// changedOnTheWay reports whether an open failed because of a link that was
// not there when the path was resolved.
func changedOnTheWay(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR)
}

func isRegular(st unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFREG }

// split returns the directory and the name of a canonical host path; the name
// of "/" is ".".
func split(host string) (parent, name string) {
	if host == "/" {
		return "/", "."
	}
	return path.Dir(host), path.Base(host)
}
