package stub

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelSigaction is struct sigaction as rt_sigaction(2) takes it, on amd64
// and arm64; zero means SIG_DFL.
type kernelSigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const lastSignal = 64

// resetSignals gives the command the dispositions of a fresh login: the
// launcher and bubblewrap ignore what a terminal sends, and ignored signals
// stay ignored across execve. It replaces the Go runtime's own handlers, so
// nothing but plain system calls may follow.
func resetSignals() {
	var action kernelSigaction
	var mask uint64
	for sig := uintptr(1); sig <= lastSignal; sig++ {
		// KILL and STOP answer EINVAL, which is as good as default.
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&action)), 0, unsafe.Sizeof(mask), 0, 0)
	}
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&mask)), 0, unsafe.Sizeof(mask), 0, 0)
}
