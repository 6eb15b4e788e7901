package seccomp

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probe makes one call for real. Under the filter it must answer want; without,
// it must not, which shows that the filter and nothing else refuses. Calls that
// would change the host get arguments that the kernel rejects in another way.
type probe struct {
	name string
	want syscall.Errno
	do   func(*stage) error

	// needs names the capability for lack of which the kernel itself gives the
	// same answer to an unprivileged user: there the control arm shows nothing.
	needs string

	// missing says that kernels exist without the feature, whose answer is then
	// the same.
	missing string
}

// stage is what probes act on.
type stage struct {
	socket   string // a datagram socket outside
	terminal *os.File
}

// tty is the controlling terminal. It is made late: until then the process has
// none, which is why vhangup can be tried.
func (s *stage) tty() (uintptr, error) {
	if s.terminal == nil {
		terminal, err := openTerminal()
		if err != nil {
			return 0, err
		}
		s.terminal = terminal
	}
	return s.terminal.Fd(), nil
}

// runProbes reports the errno of each probe by name, 0 for success.
func runProbes(o order) map[string]int {
	s := &stage{socket: o.Socket}
	results := map[string]int{}
	for _, p := range probes() {
		results[p.name] = errnoOf(p.do(s))
	}
	return results
}

func errnoOf(err error) int {
	switch err := err.(type) {
	case nil:
		return 0
	case syscall.Errno:
		return int(err)
	case *os.PathError:
		return errnoOf(err.Err)
	case *os.SyscallError:
		return errnoOf(err.Err)
	}
	return -1
}

// raw makes a call by number and closes the descriptor that it may return.
func raw(c Call, args ...uintptr) error {
	arch, err := Host()
	if err != nil {
		return err
	}
	nr, ok := c.Number(arch)
	if !ok {
		return errAbsent
	}
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := syscall.Syscall6(uintptr(nr), a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return errno
	}
	return nil
}

// errAbsent stands for calls that the architecture lacks.
const errAbsent = syscall.Errno(0xfff)

func call(c Call, args ...uintptr) func(*stage) error {
	return func(*stage) error { return raw(c, args...) }
}

// descriptor is call for calls that return a new descriptor.
func descriptor(c Call, args ...uintptr) func(*stage) error {
	return func(*stage) error {
		arch, err := Host()
		if err != nil {
			return err
		}
		nr, _ := c.Number(arch)
		var a [6]uintptr
		copy(a[:], args)
		fd, _, errno := syscall.Syscall6(uintptr(nr), a[0], a[1], a[2], a[3], a[4], a[5])
		if errno != 0 {
			return errno
		}
		return unix.Close(int(fd))
	}
}

func pointer[T any](v *T) uintptr { return uintptr(unsafe.Pointer(v)) }

// none is -1 as an argument.
const none = ^uintptr(0)

// text lasts as long as the process, so that its address may be a number.
func text(s string) uintptr {
	b, err := unix.BytePtrFromString(s)
	if err != nil {
		panic(err)
	}
	kept = append(kept, b)
	return pointer(b)
}

var kept []*byte

// openTerminal makes the slave of a new pty the controlling terminal. The process
// leads a session without one.
func openTerminal() (*os.File, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	slave, _, errno := unix.Syscall(unix.SYS_IOCTL, master.Fd(), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY)
	if errno != 0 {
		return nil, errno
	}
	if err := unix.IoctlSetInt(int(slave), unix.TIOCSCTTY, 0); err != nil {
		return nil, err
	}
	keptMaster = master
	return os.NewFile(slave, "terminal"), nil
}

var keptMaster *os.File

// spawn starts a process with the given namespaces and waits for it.
func spawn(flags uintptr) error {
	path, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	pid, err := syscall.ForkExec(path, []string{"true"}, &syscall.ProcAttr{
		Sys: &syscall.SysProcAttr{Cloneflags: flags},
	})
	if err != nil {
		return err
	}
	_, err = syscall.Wait4(pid, nil, 0, nil)
	return err
}
