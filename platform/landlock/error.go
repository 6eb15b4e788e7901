package landlock

import "fmt"

// Error reports a step of [ABI] or [Apply] that failed. The thread is then no more
// restricted than before, but may have no_new_privs set.
type Error struct {
	Op   string // what was being done
	Path string // the grant concerned, if one is
	Err  error
}

func (e Error) Error() string {
	if e.Path != "" {
		return fmt.Sprintf("landlock: %s %s: %v", e.Op, e.Path, e.Err)
	}
	return fmt.Sprintf("landlock: %s: %v", e.Op, e.Err)
}

// Unwrap returns the cause: an errno, or [errors.ErrUnsupported] where there is no
// Landlock.
func (e Error) Unwrap() error { return e.Err }
