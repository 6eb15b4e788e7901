//go:build linux

package main

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelVerbs reach for parts of the kernel that a command has no use for.
func kernelVerbs() map[string]verb {
	return map[string]verb{
		"bpf":         {0, bpf},
		"perf":        {0, perf},
		"userfaultfd": {0, userfaultfd},
		"fanotify":    {0, fanotify},
		"modify-ldt":  {0, modifyLdt},
		"int80":       {0, compatCall},
		"x32":         {0, x32Call},
		"personality": {0, personality},
		"confined":    {0, confined},
	}
}

func closed(fd uintptr, err error, detail string) verdict {
	if err != nil {
		return blocked(err)
	}
	unix.Close(int(fd))
	return allowed("%s", detail)
}

// bpf makes an array of one number (BPF_MAP_CREATE, BPF_MAP_TYPE_ARRAY).
func bpf([]string) verdict {
	attributes := [16]uint32{2, 4, 4, 1}
	fd, err := sysResult(unix.SYS_BPF, 0, pointer(&attributes), unsafe.Sizeof(attributes))
	return closed(fd, err, "a map was made")
}

// perf counts this process's own processor time, in user mode only.
func perf([]string) verdict {
	attributes := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	fd, err := unix.PerfEventOpen(&attributes, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	return closed(uintptr(fd), err, "a counter was opened")
}

func userfaultfd([]string) verdict {
	const userModeOnly = 1
	fd, err := sysResult(unix.SYS_USERFAULTFD, userModeOnly|unix.O_CLOEXEC)
	return closed(fd, err, "page faults can be handled here")
}

func fanotify([]string) verdict {
	fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_REPORT_FID|unix.FAN_CLOEXEC, unix.O_RDONLY)
	return closed(uintptr(fd), err, "a fanotify group was made")
}

func modifyLdt([]string) verdict {
	if runtime.GOARCH != "amd64" {
		return notApplicable("only x86 has such a table")
	}
	const number = 154 // of modify_ldt on amd64
	buf := make([]byte, 64)
	return outcome(sys(number, 0, pointer(&buf[0]), uintptr(len(buf))), "the table was read")
}

// personality makes all readable memory executable, for this process.
func personality([]string) verdict {
	const query, readImpliesExec = 0xffffffff, 0x0400000
	if err := sys(unix.SYS_PERSONALITY, readImpliesExec); err != nil {
		return blocked(err)
	}
	now, err := sysResult(unix.SYS_PERSONALITY, query)
	if err != nil || now&readImpliesExec == 0 {
		return blockedFor("it did not take effect")
	}
	return allowed("readable memory is executable")
}

// x32Call makes a socket by the number of the x32 table, which filters that
// compare plain numbers do not know.
func x32Call([]string) verdict {
	if runtime.GOARCH != "amd64" {
		return notApplicable("only amd64 has a second table of calls")
	}
	const x32Bit = 0x40000000
	fd, err := sysResult(x32Bit+unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == unix.ENOSYS {
		v := blocked(err)
		v.Detail = "no second table, or a filter that denies it"
		return v
	}
	return closed(fd, err, "a unix socket by its x32 number")
}

// confined is the state that everything else rests on: no new privileges, and
// none at all.
func confined([]string) verdict {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return blocked(err)
	}
	state := map[string]string{}
	for line := range strings.SplitSeq(string(status), "\n") {
		name, value, _ := strings.Cut(line, ":")
		state[name] = strings.TrimSpace(value)
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		if strings.Trim(state[set], "0") != "" {
			return blocked(errors.New(set + " is " + state[set]))
		}
	}
	if state["NoNewPrivs"] != "1" || state["Seccomp"] != "2" {
		return blockedFor("NoNewPrivs %s, Seccomp %s", state["NoNewPrivs"], state["Seccomp"])
	}
	return allowed("no capabilities, no new privileges, a filter")
}
