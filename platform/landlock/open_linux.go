package landlock

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// openPath opens an absolute path without following any symbolic link on the way.
func openPath(path string) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return walk(path)
	}
	return fd, err
}

// walk is openPath where a filter refuses openat2, as sbx's own does: a component
// at a time, each looked up in the directory that the last one opened.
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
	return at, nil
}
