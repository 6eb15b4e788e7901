//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// privilegeVerbs ask for what only the administrator of the host may do. The
// arguments are such that the call fails, or changes nothing, once the
// permission check is passed.
func privilegeVerbs() map[string]verb {
	return map[string]verb{
		"set-hostname": {1, setHostname},
		"hostname":     {1, hostname},
		"clock":        {0, clock},
		"timezone":     {0, timezone},
		"module":       {0, module},
		"kexec":        {0, kexec},
		"reboot":       {0, reboot},
		"swap":         {0, func([]string) verdict { return pastCheck(sysPath(unix.SYS_SWAPOFF)) }},
		"accounting":   {0, func([]string) verdict { return pastCheck(sysPath(unix.SYS_ACCT)) }},
		"gain":         {1, gain},
	}
}

// nowhere is a path that does not exist anywhere.
const nowhere = "/escape-probe/does/not/exist"

func sysPath(number uintptr) error {
	path, err := unix.BytePtrFromString(nowhere)
	if err != nil {
		return err
	}
	return sys(number, pointer(path))
}

// pastCheck takes every error for success but those of a missing permission
// or a missing call.
func pastCheck(err error) verdict {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS) {
		return blocked(err)
	}
	return allowed("the permission check was passed: %v", err)
}

// setHostname sets the name that the host has already, and counts only in the
// host's own namespace.
func setHostname(a []string) verdict {
	var names unix.Utsname
	if err := unix.Uname(&names); err != nil {
		return blocked(err)
	}
	if err := unix.Sethostname([]byte(unix.ByteSliceToString(names.Nodename[:]))); err != nil {
		return blocked(err)
	}
	if ns, _ := os.Readlink("/proc/self/ns/uts"); ns != a[0] {
		return blockedFor("only its own name was set")
	}
	return allowed("the host's name can be set")
}

func hostname(a []string) verdict {
	var names unix.Utsname
	if err := unix.Uname(&names); err != nil {
		return blocked(err)
	}
	if name := unix.ByteSliceToString(names.Nodename[:]); name != a[0] {
		return blockedFor("the name is %s", name)
	}
	return allowed("the host's name is %s", a[0])
}

// clock sets the length of the kernel's tick to what it is.
func clock([]string) verdict {
	var now unix.Timex
	if _, err := unix.Adjtimex(&now); err != nil {
		return blocked(err)
	}
	const adjTick = 0x4000
	same := unix.Timex{Modes: adjTick, Tick: now.Tick}
	_, err := unix.Adjtimex(&same)
	return outcome(err, "the clock can be tuned")
}

// timezone sets the kernel's time zone, which nobody uses, to nought.
func timezone([]string) verdict {
	var zone [2]int32
	return outcome(sys(unix.SYS_SETTIMEOFDAY, 0, pointer(&zone)), "the time can be set")
}

// module loads an image that is none.
func module([]string) verdict {
	image, parameters := [4]byte{'n', 'o', 'n', 'e'}, [1]byte{}
	return pastCheck(sys(unix.SYS_INIT_MODULE, pointer(&image), uintptr(len(image)), pointer(&parameters)))
}

// kexec asks for a new kernel with flags that do not exist.
func kexec([]string) verdict {
	return pastCheck(sys(unix.SYS_KEXEC_LOAD, 0, 0, 0, 0xdead))
}

// reboot leaves out the magic numbers without which nothing happens.
func reboot([]string) verdict { return pastCheck(sys(unix.SYS_REBOOT, 0, 0, 0, 0)) }

// gain starts programs with the setuid bit and looks at their effective user.
func gain(programs []string) verdict {
	last := notApplicable("no program with a setuid bit is at hand")
	for _, program := range programs {
		info, err := os.Stat(program)
		if err != nil || info.Mode()&os.ModeSetuid == 0 {
			continue
		}
		if last = effectiveUser(program); last.Verdict == "allowed" {
			return last
		}
	}
	return last
}

// effectiveUser holds the program on an open pipe while it asks for input.
func effectiveUser(program string) verdict {
	r, w, err := os.Pipe()
	if err != nil {
		return blocked(err)
	}
	defer w.Close()
	defer r.Close()
	process, err := os.StartProcess(program, []string{program, "euid"}, &os.ProcAttr{Files: []*os.File{r, nil, nil}})
	if err != nil {
		return blocked(err)
	}
	defer func() { _ = process.Kill(); _, _ = process.Wait() }()
	mine := fmt.Sprint(os.Geteuid())
	for range 20 {
		status, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(process.Pid), "status"))
		if err != nil {
			return blocked(err)
		}
		for line := range strings.SplitSeq(string(status), "\n") {
			// Uid: real, effective, saved, file system
			if f := strings.Fields(line); len(f) == 5 && f[0] == "Uid:" && f[2] != mine {
				return allowed("%s runs as user %s", program, f[2])
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return blockedFor("%s runs as user %s", program, mine)
}
