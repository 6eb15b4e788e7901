package seccomp

import (
	"errors"
	"fmt"
)

// InstallError reports that the kernel did not take a program. The process is
// then as unfiltered as before, but may have no_new_privs set.
type InstallError struct {
	Op  string // what was being done
	Err error
}

func (e InstallError) Error() string {
	return fmt.Sprintf("system call filter: %s: %v", e.Op, e.Err)
}

// Unwrap returns the cause: an errno, or [errors.ErrUnsupported] on a system or
// architecture that cannot run the program.
func (e InstallError) Unwrap() error { return e.Err }

// loadable refuses programs that would be no filter, or would kill the process at
// its next call.
func loadable(p Program) error {
	if p.Len() == 0 {
		return InstallError{Op: "check the program", Err: errors.New("it is empty")}
	}
	host, err := Host()
	if err != nil {
		return InstallError{Op: "check the program", Err: errors.Join(err, errors.ErrUnsupported)}
	}
	if host != p.arch {
		return InstallError{
			Op:  "check the program",
			Err: fmt.Errorf("it is for %v, this is %v: %w", p.arch, host, errors.ErrUnsupported),
		}
	}
	return nil
}
