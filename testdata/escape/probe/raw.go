//go:build linux

package main

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// pointer hands the address of v to a raw system call.
func pointer[T any](v *T) uintptr { return uintptr(unsafe.Pointer(v)) }

// at turns a special descriptor such as AT_FDCWD into a call's argument.
func at(fd int) uintptr { return uintptr(fd) }

// cloneArgs is struct clone_args of clone3(2), first version.
type cloneArgs struct {
	flags, pidfd, childTid, parentTid, exitSignal, stack, stackSize, tls uint64
}

// fork starts a copy of this process that makes the given calls one after the
// other and then ends with the number of the error of the first that failed,
// or 0. The copy has one thread and half a Go runtime: nothing but raw calls
// may happen in it, on memory that exists already.
//
//go:nosplit
//go:norace
func fork(calls *[maxCalls]call, count int) (pid uintptr, errno unix.Errno) {
	pid, _, errno = unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	childRun(calls, count)
	return 0, 0
}

// maxCalls bounds the list of a child.
const maxCalls = 4

// call is a system call with its arguments.
type call [7]uintptr

//go:nosplit
//go:norace
func childRun(calls *[maxCalls]call, count int) {
	for i := 0; i < count; i++ {
		c := &calls[i]
		_, _, errno := unix.RawSyscall6(c[0], c[1], c[2], c[3], c[4], c[5], c[6])
		if errno != 0 {
			unix.RawSyscall6(unix.SYS_EXIT_GROUP, uintptr(errno), 0, 0, 0, 0, 0)
		}
	}
	unix.RawSyscall6(unix.SYS_EXIT_GROUP, 0, 0, 0, 0, 0, 0)
}

// clone3 starts a child that ends at once.
//
//go:nosplit
//go:norace
func clone3(args *cloneArgs) (pid uintptr, errno unix.Errno) {
	pid, _, errno = unix.RawSyscall6(unix.SYS_CLONE3, uintptr(unsafe.Pointer(args)), unsafe.Sizeof(*args), 0, 0, 0, 0)
	if errno == 0 && pid == 0 {
		unix.RawSyscall6(unix.SYS_EXIT_GROUP, 0, 0, 0, 0, 0, 0)
	}
	return pid, errno
}

// reap waits for a child and returns the error number it ended with.
func reap(pid uintptr) unix.Errno {
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(int(pid), &status, 0, nil); err != unix.EINTR {
			break
		}
	}
	return unix.Errno(status.ExitStatus())
}
