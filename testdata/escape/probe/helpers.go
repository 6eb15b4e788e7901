//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// helpers are what this program does beside attacks: on the host, as a victim
// or a wrapper, and as its own child.
func helpers() map[string]func(args []string) {
	return map[string]func(args []string){
		"victim":          victim,
		"host-late-mount": hostLateMount,
		"int80-child":     compatChild,
		"abort":           abort,
		"fine":            func([]string) {},
		"euid":            func([]string) { _, _ = io.Copy(io.Discard, os.Stdin) },
	}
}

// victim is a host process with a secret in its memory, its environment and
// an open file. It says where, and ends with its stdin.
func victim(a []string) {
	f, err := os.Open(a[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(2)
	}
	fmt.Println(keepInMemory(), f.Fd())
	_, _ = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(f)
}

// abort ends like a crashed program: by a signal that writes a core.
func abort([]string) {
	action := [4]uint64{}
	_, _ = sysResult(unix.SYS_RT_SIGACTION, uintptr(unix.SIGABRT), pointer(&action), 0, 8)
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGABRT)
	select {}
}
