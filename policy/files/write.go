//go:build unix

package files

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/policy"
)

// Write makes content the whole content of the file at the sandbox path p,
// and makes the file, and directories on the way, where there are none. It
// refuses, besides paths that are not writable, what is no regular file
// (*WrongTypeError) and a suffix that the mount excludes. If it fails, the
// file is as it was and nothing new is left.
func (f Files) Write(p, content string) error {
	for range attempts {
		err := f.write(p, content)
		if !changedOnTheWay(err) {
			return err
		}
	}
	return &ChangedError{Op: policy.Write, Path: p}
}

// write is one attempt. Its error is worded, or tells of a change that one
// attempt more may get around.
func (f Files) write(p, content string) error {
	at, made, err := f.locateToWrite(p)
	if err == nil {
		err = at.write(f, content)
		at.dir.close()
	}
	if err == nil {
		made.close()
		return nil
	}
	made.remove()
	var errno unix.Errno
	if errors.As(err, &errno) && !changedOnTheWay(err) {
		return f.failed(policy.Write, p, at.host, errno)
	}
	return err
}

// locateToWrite is locate, and makes the directories that are missing. made
// is valid with an error too.
func (f Files) locateToWrite(p string) (at place, made madeDirs, err error) {
	at, err = f.locate(policy.Write, p)
	var missing *NotFoundError
	if !errors.As(err, &missing) {
		return at, nil, err
	}
	if err := at.checkSuffix(); err != nil {
		return at, nil, err
	}
	parent, _ := split(at.host)
	at.dir, made, err = f.makeDir(parent, at.mount.Root)
	if errors.Is(err, unix.ENOENT) {
		err = missing
	}
	return at, made, err
}

// write puts content at the name of the place.
func (at place) write(f Files, content string) error {
	if namesDirectory(at.asked) {
		return &WrongTypeError{Op: policy.Write, Path: at.asked, Is: "directory", Want: "file"}
	}
	old, err := at.dir.stat(at.name)
	exists := err == nil
	switch {
	case exists && old.Mode&unix.S_IFMT == unix.S_IFLNK:
		return unix.ELOOP // it was none when the path was resolved
	case exists:
		if err := at.checkType(policy.Write, old); err != nil {
			return err
		}
	case !errors.Is(err, unix.ENOENT):
		return err
	}
	if err := at.checkSuffix(); err != nil {
		return err
	}
	temp := temporaryName()
	switch beside := f.view.CanWrite(path.Join(path.Dir(at.host), temp)); {
	case exists && beside:
		return at.replace(temp, content)
	case exists:
		return at.overwrite(content)
	case beside:
		return at.dir.create(temp, at.name, content, nil)
	}
	return at.dir.create(at.name, at.name, content, nil)
}

// replace puts a new file in the place of the one that is there, if that one
// may be written.
func (at place) replace(temp, content string) error {
	current, err := at.openToWrite(unix.O_WRONLY)
	if err != nil {
		return err
	}
	defer current.Close()
	st, err := fstat(current)
	if err != nil {
		return err
	}
	return at.dir.create(temp, at.name, content, &st)
}

// openToWrite opens the file without changing it: the kernel's own verdict on
// whether it may be written.
func (at place) openToWrite(flags int) (*os.File, error) {
	file, err := at.dir.open(at.name, flags, 0)
	if err != nil {
		return nil, err
	}
	st, err := fstat(file)
	if err == nil {
		err = at.checkType(policy.Write, st)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
