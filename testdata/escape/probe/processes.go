//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processVerbs reach for a process of the host by its number there. Most of
// what they do is looked at from outside: the number may mean another process
// inside.
func processVerbs() map[string]verb {
	return map[string]verb{
		"signal":     {1, func(a []string) verdict { return outcome(unix.Kill(pid(a[0]), unix.SIGTERM), "sent") }},
		"pidfd-kill": {1, pidfdKill},
		"owner":      {1, signalByOwner},
		"environ":    {1, func(a []string) verdict { return readSecret("/proc/" + a[0] + "/environ") }},
		"environs":   {0, environs},
		"variable":   {1, variable},
		"fds":        {2, openFiles},
		"cmdline":    {1, commandLine},
		"launcher":   {0, launcherArguments},
		"renice":     {1, func(a []string) verdict { return outcome(unix.Setpriority(unix.PRIO_PROCESS, pid(a[0]), 5), "set") }},
		"limit":      {1, limitOther},
		"scheduler":  {1, scheduler},
		"affinity":   {1, affinity},
		"io-class":   {1, ioClass},
		"oom":        {1, func(a []string) verdict { return writeFile("/proc/"+a[0]+"/oom_score_adj", "500") }},
	}
}

func pid(s string) int { return int(number(s)) }

func pidfdKill(a []string) verdict {
	fd, err := unix.PidfdOpen(pid(a[0]), 0)
	if err != nil {
		return blocked(err)
	}
	defer unix.Close(fd)
	return outcome(unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0), "sent")
}

// signalByOwner makes another process the owner of a socket and lets the
// kernel end it on input.
func signalByOwner(a []string) verdict {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return blocked(err)
	}
	if _, err := unix.FcntlInt(uintptr(fds[0]), unix.F_SETOWN, pid(a[0])); err != nil {
		return blocked(err)
	}
	if _, err := unix.FcntlInt(uintptr(fds[0]), unix.F_SETSIG, int(unix.SIGTERM)); err != nil {
		return blocked(err)
	}
	if _, err := unix.FcntlInt(uintptr(fds[0]), unix.F_SETFL, unix.O_ASYNC); err != nil {
		return blocked(err)
	}
	_, err = unix.Write(fds[1], []byte("x"))
	return outcome(err, "input for the owner")
}

// environs looks for the secret in the environment of every process but this
// one.
func environs([]string) verdict {
	last := blockedFor("no other process shows its environment")
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return blocked(err)
	}
	for _, p := range processes {
		if filepath.Base(p) == strconv.Itoa(os.Getpid()) {
			continue
		}
		if v := readSecret(p + "/environ"); v.Verdict == "allowed" {
			return allowed("the secret is in %s/environ", p)
		}
	}
	return last
}

func variable(a []string) verdict {
	if os.Getenv(a[0]) == "" {
		return blockedFor("%s is not set", a[0])
	}
	return allowed("%s has come through", a[0])
}

// openFiles looks for a path among the open files of a process.
func openFiles(a []string) verdict {
	fds, err := filepath.Glob("/proc/" + a[0] + "/fd/*")
	if err != nil {
		return blocked(err)
	}
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.Contains(target, a[1]) {
			return allowed("%s is %s", fd, target)
		}
	}
	return blockedFor("%d open files are shown", len(fds))
}

// commandLine looks whether a process is the runner's victim.
func commandLine(a []string) verdict {
	content, err := os.ReadFile("/proc/" + a[0] + "/cmdline")
	if err != nil {
		return blocked(err)
	}
	if !bytes.Contains(content, []byte("\x00victim\x00")) {
		return blockedFor("process %s is another one here", a[0])
	}
	return allowed("the host's process is visible")
}

// launcherArguments looks for a policy in the arguments of process 1 and of
// all ancestors.
func launcherArguments([]string) verdict {
	seen := 0
	for _, p := range append([]int{1}, ancestors()...) {
		content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p))
		if err != nil {
			continue
		}
		seen++
		for arg := range bytes.SplitSeq(content, []byte{0}) {
			switch string(arg) {
			case "--rw", "--ro", "--bind", "--ro-bind", "--deny":
				return allowed("process %d shows the policy in its arguments", p)
			}
		}
	}
	return blockedFor("%d processes, no policy in their arguments", seen)
}

func ancestors() []int {
	var chain []int
	for p := os.Getppid(); p > 1; p = parentOf(p) {
		chain = append(chain, p)
	}
	return chain
}

func parentOf(p int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
	if err != nil {
		return 0
	}
	// The name in brackets may hold anything, so count from its end.
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')'):]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return n
}

func limitOther(a []string) verdict {
	limit := unix.Rlimit{Cur: 1017, Max: 1017}
	return outcome(unix.Prlimit(pid(a[0]), unix.RLIMIT_NOFILE, &limit, nil), "set")
}

// scheduler puts a process into the idle class: it then runs only when
// nothing else wants to.
func scheduler(a []string) verdict {
	var priority int32
	return outcome(sys(unix.SYS_SCHED_SETSCHEDULER, uintptr(pid(a[0])), unix.SCHED_IDLE, pointer(&priority)), "set")
}

func affinity(a []string) verdict {
	var set unix.CPUSet
	set.Set(0)
	return outcome(unix.SchedSetaffinity(pid(a[0]), &set), "set")
}

func ioClass(a []string) verdict {
	const process, idle = 1, 3 << 13 // IOPRIO_WHO_PROCESS, IOPRIO_CLASS_IDLE
	return outcome(sys(unix.SYS_IOPRIO_SET, process, uintptr(pid(a[0])), idle), "set")
}

func writeFile(path, content string) verdict {
	return outcome(os.WriteFile(path, []byte(content), 0), "written")
}
