//go:build linux

package main

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memoryVerbs read the memory and the files of a host process, whose victim
// verb has said where the secret lies.
func memoryVerbs() map[string]verb {
	return map[string]verb{
		"vm-read":     {2, vmRead},
		"trace-read":  {2, traceRead},
		"mem-file":    {2, memFile},
		"take-fd":     {2, takeDescriptor},
		"init-memory": {0, initMemory},
		"trace-child": {0, traceChild},
	}
}

func address(s string) uintptr {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0
	}
	return uintptr(n)
}

func vmRead(a []string) verdict {
	buf := make([]byte, len(secret))
	local := unix.Iovec{Base: &buf[0], Len: uint64(len(buf))}
	remote := unix.RemoteIovec{Base: address(a[1]), Len: len(buf)}
	if _, err := unix.ProcessVMReadv(pid(a[0]), []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0); err != nil {
		return blocked(err)
	}
	return findSecret(bytes.NewReader(buf))
}

func traceRead(a []string) verdict {
	p := pid(a[0])
	if err := unix.PtraceAttach(p); err != nil {
		return blocked(err)
	}
	defer func() { _ = unix.PtraceDetach(p) }()
	var status unix.WaitStatus
	if _, err := unix.Wait4(p, &status, unix.WALL, nil); err != nil {
		return blocked(err)
	}
	buf := make([]byte, len(secret))
	if _, err := unix.PtracePeekData(p, address(a[1]), buf); err != nil {
		return blocked(err)
	}
	return findSecret(bytes.NewReader(buf))
}

func memFile(a []string) verdict {
	f, err := os.Open("/proc/" + a[0] + "/mem")
	if err != nil {
		return blocked(err)
	}
	defer f.Close()
	buf := make([]byte, len(secret))
	if _, err := f.ReadAt(buf, int64(address(a[1]))); err != nil {
		return blocked(err)
	}
	return findSecret(bytes.NewReader(buf))
}

// takeDescriptor copies an open file out of another process.
func takeDescriptor(a []string) verdict {
	process, err := unix.PidfdOpen(pid(a[0]), 0)
	if err != nil {
		return blocked(err)
	}
	defer unix.Close(process)
	fd, err := unix.PidfdGetfd(process, pid(a[1]), 0)
	if err != nil {
		return blocked(err)
	}
	f := os.NewFile(uintptr(fd), "taken")
	defer f.Close()
	if _, err := f.Seek(0, 0); err != nil {
		return blocked(err)
	}
	return findSecret(f)
}

// initMemory opens the memory of process 1 for writing, and writes nothing.
func initMemory([]string) verdict {
	fd, err := unix.Open("/proc/1/mem", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return blocked(err)
	}
	unix.Close(fd)
	return allowed("the memory of process 1 is writable")
}

func traceChild([]string) verdict {
	cmd := again("fine")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	err := cmd.Start()
	if err != nil {
		return blocked(err)
	}
	_ = unix.PtraceDetach(cmd.Process.Pid)
	return outcome(errors.Join(cmd.Process.Kill(), ignoreExit(cmd.Wait())), "a child was traced")
}

// ignoreExit drops the error that only says how a process ended.
func ignoreExit(err error) error {
	var exit interface{ ExitCode() int }
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// keepInMemory returns the address of a copy of the secret that stays where
// it is.
func keepInMemory() uintptr {
	kept = append(kept, secret...)
	return uintptr(unsafe.Pointer(&kept[0]))
}

var kept []byte
