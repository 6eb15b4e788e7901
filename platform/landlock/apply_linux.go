package landlock

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/script"
)

// ABI asks the running kernel for its Landlock ABI, 1 or more. Without Landlock it
// returns 0 and an [Error] that wraps [errors.ErrUnsupported] and says why.
func ABI() (int, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, Error{Op: "read the ABI", Err: unsupported(errno)}
	}
	return int(abi), nil
}

func unsupported(errno unix.Errno) error {
	switch errno {
	case unix.ENOSYS:
		return fmt.Errorf("the kernel is built without it, or an outer filter hides it (%w): %w", errno, errors.ErrUnsupported)
	case unix.EOPNOTSUPP:
		return fmt.Errorf("it is off since boot, add it to lsm= on the kernel command line (%w): %w", errno, errors.ErrUnsupported)
	default:
		return fmt.Errorf("%w: %w", errno, errors.ErrUnsupported)
	}
}

// Apply sets no_new_privs and puts e in force on the calling thread, for good, and
// for all that this thread executes or starts from now on. Other threads of the
// process stay as they were, until execve ends them. Apply locks the goroutine to
// its thread and leaves it locked.
//
// Nothing changes on error but no_new_privs. Errors are an [Error]: an e that
// enforces nothing, a grant whose path is missing or leads through a symbolic link
// (ELOOP, ENOTDIR), or E2BIG when 16 domains are stacked already.
func Apply(e Enforced) error {
	if !e.Any() {
		return Error{Op: "apply", Err: errors.New("there is nothing to enforce")}
	}
	runtime.LockOSThread()
	s := script.New()
	e.Write(s)
	if f := script.Run(s); f.Step != 0 {
		note := s.Note(f)
		return Error{Op: note.Text, Path: note.Path, Err: unix.Errno(f.Errno)}
	}
	return nil
}
