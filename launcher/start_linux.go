package launcher

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// startProcess forks and execs without os.StartProcess, which forks once more
// at its first use to see whether pidfds work. Descriptor i of the child is
// files[i]. Where dying is set it dies with the calling thread. Signals that a
// terminal or the command sends to its whole group stay blocked in the
// backend: only the stub lets them in again, for the command.
func startProcess(program string, argv []string, files []*os.File, in placing) (pid, pidfd int, err error) {
	defer blockSignals()()
	numbers := make([]uintptr, len(files))
	for i, f := range files {
		numbers[i] = f.Fd()
	}
	pidfd = -1
	sys := &syscall.SysProcAttr{PidFD: &pidfd, Setsid: in.session, Setpgid: in.group}
	if in.dying {
		sys.Pdeathsig = syscall.SIGKILL
	}
	pid, err = syscall.ForkExec(program, argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: numbers,
		Sys:   sys,
	})
	runtime.KeepAlive(files)
	return pid, pidfd, err
}

// wordsSize bounds what is read of a backend's complaint.
const wordsSize = 4096

// firstLine is what bubblewrap gave as its reason, without its name in front.
func firstLine(r io.Reader) string {
	said, _ := io.ReadAll(io.LimitReader(r, wordsSize))
	line, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return strings.TrimPrefix(line, "bwrap: ")
}

// opener opens the descriptors of a start and remembers the first failure.
type opener struct {
	ours, theirs []*os.File
	err          error
}

func (o *opener) keep(err error, theirs ...*os.File) {
	o.theirs = append(o.theirs, theirs...)
	o.err = errors.Join(o.err, err)
}

// socketPair makes the stream to the stub. The kernel vouches on it for the
// process at the other end.
func (o *opener) socketPair() (ours, theirs *os.File) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		o.keep(err)
		return nil, nil
	}
	// Waiting on ours is the poller's: a thread that waits in a system call keeps
	// the runtime's monitor awake, which takes the processor from the backend.
	o.keep(unix.SetNonblock(fds[0], true))
	ours, theirs = os.NewFile(uintptr(fds[0]), "stub"), os.NewFile(uintptr(fds[1]), "launcher")
	o.ours = append(o.ours, ours)
	o.keep(unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1), theirs)
	return ours, theirs
}

// pipe and open go by bare system calls: what the os package opens is tried
// on the runtime's poller first, which is set up for nothing here.
func (o *opener) pipe() (r, w *os.File) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		o.keep(err)
		return nil, nil
	}
	r, w = os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe")
	o.ours = append(o.ours, r)
	o.keep(nil, w)
	return r, w
}

func (o *opener) open(p string, flags int) *os.File {
	fd, err := unix.Open(p, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		o.keep(err)
		return nil
	}
	f := os.NewFile(uintptr(fd), p)
	o.keep(nil, f)
	return f
}

func (o *opener) memfd(content []byte) *os.File {
	fd, err := unix.MemfdCreate("sbx-args", unix.MFD_CLOEXEC)
	if err != nil {
		o.keep(err)
		return nil
	}
	f := os.NewFile(uintptr(fd), "args")
	_, err = f.WriteAt(content, 0)
	o.keep(err, f)
	return f
}

func (o *opener) closeTheirs() { closeAll(o.theirs) }

// fail gives up a start and says why.
func (o *opener) fail() error {
	closeAll(o.ours)
	return &SetupError{Step: "start", Reason: o.err.Error()}
}

// closeAll closes the files that there are.
func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

func orFile(f, otherwise *os.File) *os.File {
	if f == nil {
		return otherwise
	}
	return f
}
