//go:build linux

package main

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// int80 makes a system call by the 32-bit gate. The numbers are those of
// i386; a filter that does not look at the architecture takes them for
// others.
func int80(number, a, b, c uint32) int32

// compatCall makes a unix socket by the 32-bit gate, in a child: where the
// gate is shut the kernel ends the process.
func compatCall([]string) verdict {
	err := again("int80-child").Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return outcome(err, "a unix socket by a 32-bit call")
	}
	status := exit.Sys().(syscall.WaitStatus)
	switch {
	case status.Signaled() && status.Signal() == unix.SIGSYS:
		return verdict{Verdict: "blocked", Errno: "SIGSYS", Detail: "a filter ended the process"}
	case status.Exited() && status.ExitStatus() == compatAbsent:
		return notApplicable("this kernel has no 32-bit calls")
	case status.Exited():
		return blocked(unix.Errno(status.ExitStatus()))
	}
	return blockedFor("%v", exit)
}

// compatAbsent is the child's status where the gate does not exist: the Go
// runtime turns the fault into a panic, whose status is 2.
const compatAbsent = 2

func compatChild([]string) {
	const socketI386 = 359
	if fd := int80(socketI386, unix.AF_UNIX, unix.SOCK_STREAM, 0); fd < 0 {
		unix.Exit(int(-fd))
	}
	unix.Exit(0)
}
