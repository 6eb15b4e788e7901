//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func resourceVerbs() map[string]verb {
	return map[string]verb{
		"space":     {2, space},
		"fill":      {1, fill},
		"forks":     {1, forks},
		"nofile":    {1, nofile},
		"core-dump": {0, coreDump},
		"daemon":    {1, daemon},
		"linger":    {2, linger},
	}
}

// space looks for a file system in memory that holds more than a number of
// bytes and in which a file can be made. space BYTES PATH...
func space(a []string) verdict {
	most := uint64(number(a[0]))
	last := blockedFor("nothing in memory is writable")
	for _, p := range a[1:] {
		var fs unix.Statfs_t
		if unix.Statfs(p, &fs) != nil || fs.Type != unix.TMPFS_MAGIC || makeAndRemove([]string{p}).Verdict != "allowed" {
			continue
		}
		size := fs.Blocks * uint64(fs.Bsize)
		if size > most || size == 0 {
			return allowed("%s takes %d MiB of memory", p, size>>20)
		}
		last = blockedFor("%s holds %d MiB", p, size>>20)
	}
	return last
}

// fill writes a number of bytes into the directories that a command has for
// itself.
func fill(a []string) verdict {
	content := make([]byte, number(a[0]))
	last := verdict{}
	for _, dir := range []string{os.TempDir(), os.Getenv("HOME")} {
		name := filepath.Join(dir, ".escape-probe-fill")
		err := os.WriteFile(name, content, 0o600)
		_ = os.Remove(name)
		if err == nil {
			return allowed("%d bytes in %s", len(content), dir)
		}
		last = blocked(err)
	}
	return last
}

// nap is the life of a child that nothing ends.
var nap = unix.Timespec{Sec: 30}

// forks starts a number of processes that do nothing, then ends them. They
// die with this process, whatever happens to it.
func forks(a []string) verdict {
	calls := [maxCalls]call{
		{unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL)},
		{unix.SYS_NANOSLEEP, pointer(&nap), 0},
	}
	want := int(number(a[0]))
	var children []uintptr
	defer func() {
		for _, p := range children {
			_ = unix.Kill(int(p), unix.SIGKILL)
			reap(p)
		}
	}()
	for len(children) < want {
		p, errno := fork(&calls, 2)
		if errno != 0 {
			v := blocked(errno)
			v.Detail = "a limit was met"
			return v
		}
		children = append(children, p)
	}
	return allowed("%d processes were started", want)
}

// detached is a child that outlives its parent if nothing ends it: a session
// of its own, no descriptors, deaf to what ends a session.
func detached() unix.Errno {
	calls := [maxCalls]call{
		{unix.SYS_SETSID},
		{unix.SYS_CLOSE_RANGE, 0, ^uintptr(0) >> 33},
		{unix.SYS_NANOSLEEP, pointer(&nap), 0},
	}
	_, errno := fork(&calls, 3)
	return errno
}

// daemon leaves a process behind. The mark in the arguments lets the runner
// find it.
func daemon([]string) verdict {
	if errno := detached(); errno != 0 {
		return blocked(errno)
	}
	return allowed("a process stays behind")
}

// linger leaves many processes behind, says so, and waits to be ended.
// linger NUMBER MARK
func linger(a []string) verdict {
	for range number(a[0]) {
		if errno := detached(); errno != 0 {
			return blocked(errno)
		}
	}
	report(allowed("processes stay behind"))
	_ = unix.Nanosleep(&nap, nil)
	os.Exit(0)
	return verdict{}
}

// nofile uses a descriptor of a high number.
func nofile(a []string) verdict {
	high := uint64(number(a[0]))
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil {
		return blocked(err)
	}
	limit := unix.Rlimit{Cur: high + 1, Max: max(high+1, now.Max)}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return blocked(err)
	}
	return outcome(unix.Dup3(0, int(high), unix.O_CLOEXEC), "the descriptor is open")
}

// coreDump ends a child such that the kernel writes its memory out. Where a
// program of the host's takes dumps, only the limit is looked at.
func coreDump([]string) verdict {
	limit := unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &limit); err != nil {
		return blocked(err)
	}
	pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
	if strings.HasPrefix(string(pattern), "|") {
		return allowed("a program outside would be given the memory")
	}
	err := again("abort").Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).CoreDump() {
		return allowed("the memory was written out")
	}
	return blockedFor("no memory was written: %v", err)
}
