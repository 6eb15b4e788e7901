//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

func namespaceVerbs() map[string]verb {
	return map[string]verb{
		"in-userns":      {1, inUserns},
		"userns-clone":   {0, func([]string) verdict { return startWith(&syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}) }},
		"userns-unshare": {0, func([]string) verdict { return startWith(&syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWUSER}) }},
		"userns-clone3":  {0, usernsClone3},
		"join-network":   {2, joinNetwork},
	}
}

// again is this program, started once more.
func again(args ...string) *exec.Cmd { return exec.Command("/proc/self/exe", args...) }

// startWith starts this program with namespaces of its own.
func startWith(attr *syscall.SysProcAttr) verdict {
	cmd := again("fine")
	cmd.SysProcAttr = attr
	return outcome(cmd.Run(), "a user namespace was made")
}

func usernsClone3([]string) verdict {
	args := cloneArgs{flags: unix.CLONE_NEWUSER, exitSignal: uint64(unix.SIGCHLD)}
	pid, errno := clone3(&args)
	if errno != 0 {
		return blocked(errno)
	}
	reap(pid)
	return allowed("a user namespace was made")
}

// inUserns performs another attack with all capabilities over mounts of its
// own.
func inUserns(a []string) verdict {
	cmd := again(a...)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	var v verdict
	switch {
	case out.Len() == 0 && err != nil:
		return blocked(err)
	case json.Unmarshal(out.Bytes(), &v) != nil:
		return blockedFor("no answer from the namespace: %q", out.String())
	}
	v.Detail = "in a user namespace: " + v.Detail
	return v
}

// joinNetwork enters the network of process 1 and of another host process in
// turn, and calls a listener of the host from there.
func joinNetwork(a []string) verdict {
	runtime.LockOSThread()
	last := blockedFor("no namespace to join")
	for _, pid := range []string{"1", a[0]} {
		fd, err := unix.Open(fmt.Sprintf("/proc/%s/ns/net", pid), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			last = blocked(err)
			continue
		}
		err = unix.Setns(fd, unix.CLONE_NEWNET)
		unix.Close(fd)
		if err != nil {
			last = blocked(err)
			continue
		}
		if last = callTCP(a[1]); last.Verdict == "allowed" {
			return last
		}
	}
	return last
}
