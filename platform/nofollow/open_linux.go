// Package nofollow opens paths of which no component may be a symbolic link.
// Whoever can write to a directory on the way can otherwise choose what is
// opened.
package nofollow

import (
	"errors"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// Open opens the absolute path with O_PATH and close-on-exec. A symbolic link
// anywhere in it, also at the end, is ELOOP or ENOTDIR. It uses openat2 (Linux
// 5.6), and where a filter refuses that, as sbx's own does for what runs
// inside, looks up one component at a time in the directory opened before.
func Open(path string) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if refused(err) {
		return walk(path)
	}
	return fd, err
}

var how = unix.OpenHow{
	Flags:   unix.O_PATH | unix.O_CLOEXEC,
	Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
}

func refused(err error) bool { return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) }

// OpenLink opens the symbolic link at the end of the absolute path, itself and
// with O_PATH, and reads its text. What is no link is EINVAL; a link on the way
// is an error as for Open.
func OpenLink(p string) (fd int, text string, err error) {
	dir, err := Open(path.Dir(p))
	if err != nil {
		return -1, "", err
	}
	defer unix.Close(dir)
	fd, err = unix.Openat(dir, path.Base(p), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, "", err
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	if err == unix.ENOENT { // what the kernel says where the descriptor is no link's
		err = unix.EINVAL
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, "", err
	}
	return fd, string(buf[:n]), nil
}

func walk(path string) (int, error) {
	at, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	rest := strings.TrimPrefix(path, "/")
	for rest != "" {
		name, below, more := strings.Cut(rest, "/")
		flags := unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
		if more {
			flags |= unix.O_DIRECTORY // a link is not one: ENOTDIR
		}
		next, err := unix.Openat(at, name, flags, 0)
		_ = unix.Close(at)
		if err != nil {
			return -1, err
		}
		at, rest = next, below
	}
	return at, refuseLink(at)
}

// refuseLink closes the descriptor of a link: O_PATH with O_NOFOLLOW opens one
// instead of failing.
func refuseLink(fd int) error {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	if err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		err = unix.ELOOP
	}
	if err != nil {
		_ = unix.Close(fd)
	}
	return err
}
