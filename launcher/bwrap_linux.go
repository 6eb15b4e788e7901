package launcher

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/launcher/stub"
	"github.com/sbx-run/sbx/platform"
)

// Descriptors of the backend process, in the order of its file list.
const (
	socketFD = stub.SocketFD
	argsFD   = iota + socketFD
	statusFD
	exeFD
	stderrFD
	firstSourceFD
)

// sandbox is a started backend.
type sandbox struct {
	pid     int
	pidfd   int
	socket  *os.File      // to the stub
	reader  *bufio.Reader // on socket
	said    *tail         // what the backend wrote on its own stderr
	drained sync.WaitGroup
	init    int // pidfd of process 1 of the sandbox; -1 if it never was

	status    bwrap.Status
	statusErr error
	ended     *unix.WaitStatus
}

// startBwrap starts bubblewrap with an empty environment. Its stderr is a
// pipe of ours, so that its words are never mixed with the command's; the
// stub puts the command's own stderr in place.
func startBwrap(plan platform.Plan, cmd Command, opened sources) (*sandbox, error) {
	var opening opener
	defer opening.closeTheirs()
	ours, theirs := opening.socketPair()
	statusR, statusW := opening.pipe()
	saidR, saidW := opening.pipe()
	exe := opening.open("/proc/self/exe")
	args := opening.memfd(arguments(plan, cmd, opened))
	null := opening.open(os.DevNull)
	if opening.err != nil {
		opening.closeOurs()
		return nil, &SetupError{Step: "descriptors", Reason: opening.err.Error()}
	}
	files := []*os.File{orFile(cmd.Stdin, null), orFile(cmd.Stdout, null), saidW,
		theirs, args, statusW, exe, orFile(cmd.Stderr, null)}
	files = append(files, opened.files()...)
	argv := []string{"bwrap", "--args", itoa(argsFD), "--", "/proc/self/fd/" + itoa(exeFD), stub.Arg}
	pid, pidfd, err := startProcess(plan.Program, argv, files)
	if err != nil {
		opening.closeOurs()
		return nil, &SetupError{Step: "start", Path: plan.Program, Reason: err.Error()}
	}
	s := &sandbox{pid: pid, pidfd: pidfd, socket: ours, reader: bufio.NewReader(ours), said: &tail{}, init: -1}
	s.drained.Go(func() { s.said.readAll(saidR) })
	s.drained.Go(func() {
		defer statusR.Close()
		s.status, s.statusErr = bwrap.ReadStatus(statusR, s.holdInit)
	})
	return s, nil
}

// startProcess forks and execs without os.StartProcess, which forks once more
// at its first use to see whether pidfds work. Descriptor i of the child is
// files[i]; it dies with the calling thread.
func startProcess(program string, argv []string, files []*os.File) (pid, pidfd int, err error) {
	numbers := make([]uintptr, len(files))
	for i, f := range files {
		numbers[i] = f.Fd()
	}
	pidfd = -1
	pid, err = syscall.ForkExec(program, argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: numbers,
		Sys:   &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, PidFD: &pidfd},
	})
	runtime.KeepAlive(files)
	return pid, pidfd, err
}

// holdInit keeps process 1 of the sandbox in hand, to see its end. If it is
// gone already there is nothing to wait for.
func (s *sandbox) holdInit(pid int) {
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		s.init = fd
	}
}

// arguments are bubblewrap's options, each ended by a NUL.
func arguments(plan platform.Plan, cmd Command, opened sources) []byte {
	number := opened.numbers()
	list := bwrap.Args(plan.Layout, bwrap.Options{
		Features:   plan.Features,
		ShareNet:   plan.Effective.Network.Mode != 0,
		NewSession: !cmd.Interactive,
		StatusFD:   statusFD,
		FD:         func(i int) int { return number[i] },
	})
	return []byte(strings.Join(list, "\x00") + "\x00")
}

// files lists the open descriptors, numbers where each mount's will be.
func (s sources) files() []*os.File {
	var files []*os.File
	for _, src := range s {
		if src.file != nil {
			files = append(files, src.file)
		}
	}
	return files
}

func (s sources) numbers() []int {
	numbers, next := make([]int, len(s)), firstSourceFD
	for i, src := range s {
		if src.file != nil {
			numbers[i] = next
			next++
		}
	}
	return numbers
}

// tail keeps the first words of a stream and reads the rest away.
type tail struct{ bytes.Buffer }

const tailSize = 4096

func (t *tail) readAll(r io.ReadCloser) {
	defer r.Close()
	_, _ = io.Copy(&t.Buffer, io.LimitReader(r, tailSize))
	_, _ = io.Copy(io.Discard, r)
}

// firstLine is what bubblewrap gave as its reason, without its name in front.
func (t *tail) firstLine() string {
	line, _, _ := strings.Cut(strings.TrimSpace(t.String()), "\n")
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
	ours, theirs = os.NewFile(uintptr(fds[0]), "stub"), os.NewFile(uintptr(fds[1]), "launcher")
	o.ours = append(o.ours, ours)
	o.keep(unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1), theirs)
	return ours, theirs
}

func (o *opener) pipe() (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		o.keep(err)
		return nil, nil
	}
	o.ours = append(o.ours, r)
	o.keep(nil, w)
	return r, w
}

func (o *opener) open(p string) *os.File {
	f, err := os.OpenFile(p, os.O_RDONLY, 0)
	if p == os.DevNull {
		f, err = os.OpenFile(p, os.O_RDWR, 0)
	}
	if err != nil {
		o.keep(err)
		return nil
	}
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
func (o *opener) closeOurs()   { closeAll(o.ours) }

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

func orFile(f, otherwise *os.File) *os.File {
	if f == nil {
		return otherwise
	}
	return f
}
