// Command probe tries accesses and reports what the kernel says. It reads a
// list of tries as JSON from stdin and writes one answer each to stdout: ""
// if the access worked on the very file that the host means, "other" if the
// path leads to something else, such as a mask or an empty directory of the
// sandbox, and the name of the error otherwise. What it changes it puts back.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// try is one access. Object and Into are the identities that Path, or its
// directory if Path is to be made, and the directory of To have on the host;
// zero is not compared.
type try struct {
	Do, Path, To string
	Object, Into identity
	Mode         uint32
}

type identity struct{ Dev, Ino uint64 }

func main() {
	var tries []try
	if err := json.NewDecoder(os.Stdin).Decode(&tries); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	answers := make([]string, len(tries))
	for i, t := range tries {
		answers[i] = describe(t.perform())
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		os.Exit(2)
	}
}

// errOther reports that a path does not lead to the host's file.
var errOther = errors.New("other")

// undoError reports a change that could not be put back.
type undoError struct{ error }

func describe(err error) string {
	var undo undoError
	var number syscall.Errno
	switch {
	case err == nil:
		return ""
	case errors.As(err, &undo):
		return "undo: " + err.Error()
	case errors.As(err, &number) && names[number] != "":
		return names[number]
	}
	return err.Error()
}

// names are the errors that boundaries give; others are told by their text.
var names = map[syscall.Errno]string{
	syscall.EPERM: "EPERM", syscall.EACCES: "EACCES", syscall.ENOENT: "ENOENT", syscall.EROFS: "EROFS",
	syscall.EBUSY: "EBUSY", syscall.EXDEV: "EXDEV", syscall.ENOTDIR: "ENOTDIR", syscall.EISDIR: "EISDIR",
	syscall.EEXIST: "EEXIST", syscall.ENOTEMPTY: "ENOTEMPTY", syscall.ENOEXEC: "ENOEXEC",
}

func (t try) perform() error {
	switch t.Do {
	case "read", "list":
		return t.open(os.O_RDONLY)
	case "write":
		return t.open(os.O_WRONLY)
	}
	// A sandbox may hide what an object is and still let it be changed, so
	// only an answer counts.
	object := t.Path
	if t.makes() {
		object = filepath.Dir(t.Path)
	}
	if differs(object, t.Object) || t.To != "" && differs(filepath.Dir(t.To), t.Into) {
		return errOther
	}
	return t.change()
}

func (t try) makes() bool { return t.Do == "create" || t.Do == "mkdir" || t.Do == "symlink" }

// differs reports whether p can be looked at and is not what was meant.
func differs(p string, meant identity) bool {
	info, err := os.Lstat(p)
	return err == nil && meant != identity{} && identify(info) != meant
}

func identify(info fs.FileInfo) identity {
	st := info.Sys().(*syscall.Stat_t)
	return identity{uint64(st.Dev), uint64(st.Ino)}
}

// open follows links, and reads a little where it may.
func (t try) open(flags int) error {
	f, err := os.OpenFile(t.Path, flags, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case identify(info) != t.Object:
		return errOther
	case t.Do == "list":
		_, err = f.Readdirnames(-1)
	case t.Do == "read":
		_, err = f.Read(make([]byte, 1))
	}
	return err
}

func (t try) change() error {
	switch t.Do {
	case "stat":
		_, err := os.Lstat(t.Path)
		return err
	case "chmod":
		return os.Chmod(t.Path, fs.FileMode(t.Mode))
	case "exec":
		return exec.Command(t.Path).Run()
	case "create":
		f, err := os.OpenFile(t.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		return undone(errors.Join(f.Close(), os.Remove(t.Path)))
	case "mkdir":
		return then(os.Mkdir(t.Path, 0o755), func() error { return os.Remove(t.Path) })
	case "symlink":
		return then(os.Symlink("target", t.Path), func() error { return os.Remove(t.Path) })
	case "rename":
		return then(os.Rename(t.Path, t.To), func() error { return os.Rename(t.To, t.Path) })
	case "link":
		return then(os.Link(t.Path, t.To), func() error { return os.Remove(t.To) })
	case "unlink":
		return t.unlink()
	}
	return errors.New("what is " + t.Do + "?")
}

// unlink removes and makes anew: the same content, another inode.
func (t try) unlink() error {
	info, err := os.Lstat(t.Path)
	if err != nil {
		return os.Remove(t.Path)
	}
	content, _ := os.ReadFile(t.Path)
	return then(os.Remove(t.Path), func() error {
		if info.IsDir() {
			return os.Mkdir(t.Path, info.Mode().Perm())
		}
		return os.WriteFile(t.Path, content, info.Mode().Perm())
	})
}

func then(err error, undo func() error) error {
	if err != nil {
		return err
	}
	return undone(undo())
}

func undone(err error) error {
	if err != nil {
		return undoError{err}
	}
	return nil
}
