package stub

import (
	"bufio"
	"errors"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// A program that links this package becomes the stub before it does anything
// else: initialisation runs in the order of imports, so whatever the program
// itself imports is not set up for nothing. The stub's start is part of every
// command's.
func init() {
	if len(os.Args) == 2 && os.Args[1] == Arg {
		runtime.LockOSThread()
		os.Exit(run())
	}
}

// exitFailed is the stub's own status. The launcher knows failures by their
// record; the status only matters when the launcher is gone.
const exitFailed = 125

func run() int {
	unix.CloseOnExec(SocketFD)
	if err := send(Message{Kind: Hello}); err != nil {
		return exitFailed
	}
	var spec Spec
	if err := Read(bufio.NewReader(socket{}), &spec); err != nil {
		return exitFailed
	}
	err := become(spec)
	var failure *Failure
	if !errors.As(err, &failure) {
		failure = &Failure{Stage: StageExec, Text: err.Error()}
	}
	_ = send(Message{Kind: Failed, Failure: *failure}) // nobody left to tell if it fails
	return exitFailed
}

// socket is the stream to the launcher, by bare system calls: an os.File would
// start the runtime's poller.
type socket struct{}

func (socket) Read(p []byte) (int, error) {
	n, err := unix.Read(SocketFD, p)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return max(n, 0), err
}

func send(m Message) error {
	_, err := unix.Write(SocketFD, Encode(&m))
	return err
}

// become carries the spec out. It returns only to say what failed.
func become(spec Spec) error {
	if err := verify(spec.Mounts); err != nil {
		return err
	}
	if err := unix.Chdir(spec.Dir); err != nil {
		return fail(StageChdir, spec.Dir, err)
	}
	if err := arrangeDescriptors(spec.Stderr); err != nil {
		return err
	}
	program, err := lookup(spec.Argv[0], spec.Path)
	if err != nil {
		return err
	}
	resetSignals()
	if err := dropPrivileges(); err != nil {
		return err
	}
	if err := restrict(spec.Landlock); err != nil {
		return err
	}
	if err := send(Message{Kind: Ready}); err != nil {
		return err
	}
	if err := filter(spec.Filter); err != nil {
		return err
	}
	// Last, because the stub itself might not live within them.
	if err := setLimits(spec.Limits); err != nil {
		return err
	}
	return fail(StageExec, program, unix.Exec(program, spec.Argv, spec.Env))
}

func fail(stage Stage, path string, err error) error {
	if err == nil {
		return nil
	}
	f := &Failure{Stage: stage, Path: path, Text: err.Error()}
	var errno unix.Errno
	if errors.As(err, &errno) {
		f.Errno = int(errno)
	}
	return f
}

// arrangeDescriptors gives the command its own stderr and nothing above 2:
// not what the launcher's caller left open, and not the socket.
func arrangeDescriptors(stderr int) error {
	if stderr > 0 {
		if err := unix.Dup2(stderr, 2); err != nil {
			return fail(StageExec, "", err)
		}
	}
	return fail(StageExec, "", unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC))
}

func setLimits(limits []Rlimit) error {
	for _, l := range limits {
		if err := unix.Setrlimit(l.Resource, &unix.Rlimit{Cur: l.Value, Max: l.Value + l.Margin}); err != nil {
			return fail(StageLimits, "", err)
		}
	}
	return nil
}
