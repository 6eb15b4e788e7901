package files

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/sbx-run/sbx/policy"
)

// NotFoundError reports that there is no file. It is an fs.ErrNotExist.
type NotFoundError struct {
	Op   policy.Access
	Path string   // as asked
	Near []string // sandbox paths of readable files with like names
}

func (e *NotFoundError) Error() string {
	msg := cannot(e.Op, e.Path) + "no such file or directory."
	if len(e.Near) > 0 {
		msg += "\nLike names: " + strings.Join(e.Near, ", ")
	}
	return msg
}

func (e *NotFoundError) Unwrap() error { return fs.ErrNotExist }

// WrongTypeError reports that the path leads to something that the operation
// is not for. Nothing of it has been read.
type WrongTypeError struct {
	Op   policy.Access
	Path string
	Is   string // "directory", "file", "named pipe", "socket", "device"
	Want string // "file" or "directory"
}

func (e *WrongTypeError) Error() string {
	return cannot(e.Op, e.Path) + fmt.Sprintf("it is a %s, not a %s.", e.Is, e.Want)
}

// NotTextError reports a file that is not UTF-8 text.
type NotTextError struct {
	Path   string
	Reason string // a clause
}

func (e *NotTextError) Error() string {
	return cannot(policy.Read, e.Path) + "not a text file: " + e.Reason + "."
}

// ChangedError reports a file, or the way to it, that somebody changed while
// it was used. Nothing has been written.
type ChangedError struct {
	Op   policy.Access
	Path string
}

func (e *ChangedError) Error() string {
	return cannot(e.Op, e.Path) + "it changed at the same time.\nTry again"
}

// IOError reports what the operating system refused. It wraps the error
// number and names no path of the host.
type IOError struct {
	Op   policy.Access
	Path string
	Err  error
}

func (e *IOError) Error() string { return cannot(e.Op, e.Path) + e.Err.Error() + "." }

func (e *IOError) Unwrap() error { return e.Err }

func cannot(op policy.Access, path string) string {
	verb := "read"
	if op == policy.Write {
		verb = "write to"
	}
	return fmt.Sprintf("Cannot %s '%s': ", verb, policy.Printable(path))
}

// typeName names the type in a stat(2) mode.
func typeName(mode uint32) string {
	switch mode & syscall.S_IFMT {
	case syscall.S_IFDIR:
		return "directory"
	case syscall.S_IFREG:
		return "file"
	case syscall.S_IFIFO:
		return "named pipe"
	case syscall.S_IFSOCK:
		return "socket"
	case syscall.S_IFLNK:
		return "symbolic link"
	}
	return "device"
}
