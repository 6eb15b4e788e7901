package platform

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// seccompActionAvailable asks seccomp(2) whether the kernel knows an action.
func seccompActionAvailable(action uint32) error {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return errno
	}
	return nil
}
