package seccomp

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Install sets no_new_privs and puts p in force on all threads of the process, for
// good, and for whatever it executes or starts from now on. It should be the last
// step before execve. Nothing changes on error but no_new_privs, which stays set
// on the calling thread. Errors are an [InstallError].
//
// Every thread is filtered at once (SECCOMP_FILTER_FLAG_TSYNC, Linux 3.17): Go
// moves goroutines between threads, and one unfiltered thread would be a way out.
func Install(p Program) error {
	if err := loadable(p); err != nil {
		return err
	}
	filter := make([]unix.SockFilter, 0, p.Len())
	for _, in := range p.code {
		filter = append(filter, unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K})
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: unsafe.SliceData(filter)}

	// no_new_privs belongs to the thread, which is why both calls share one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return InstallError{Op: "set no_new_privs", Err: err}
	}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP,
		unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return InstallError{Op: "load the program", Err: errno}
	}
	if thread != 0 {
		return InstallError{Op: "load the program", Thread: int(thread), Err: unix.EBUSY}
	}
	return nil
}
