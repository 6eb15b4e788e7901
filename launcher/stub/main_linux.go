package stub

import (
	"bufio"
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Main takes over if this process was started as a stub, and then never
// returns: the process becomes the command, or it exits.
func Main() {
	if len(os.Args) != 2 || os.Args[1] != Arg {
		return
	}
	runtime.LockOSThread()
	os.Exit(run())
}

// exitFailed is the stub's own status. The launcher knows failures by their
// record; the status only matters when the launcher is gone.
const exitFailed = 125

func run() int {
	unix.CloseOnExec(SocketFD)
	socket := os.NewFile(SocketFD, "launcher")
	if err := WriteRecord(socket, Message{Hello: true}); err != nil {
		return exitFailed
	}
	var spec Spec
	if err := ReadRecord(bufio.NewReader(socket), &spec); err != nil {
		return exitFailed
	}
	err := become(spec, func() error { return WriteRecord(socket, Message{Ready: true}) })
	var failure *Failure
	if !errors.As(err, &failure) {
		failure = &Failure{Stage: StageExec, Text: err.Error()}
	}
	_ = WriteRecord(socket, Message{Failure: failure}) // nobody left to tell if it fails
	return exitFailed
}

// become carries the spec out. It returns only to say what failed.
func become(spec Spec, ready func() error) error {
	if err := verify(spec.Mounts); err != nil {
		return err
	}
	if err := unix.Chdir(string(spec.Dir)); err != nil {
		return fail(StageChdir, spec.Dir, err)
	}
	if err := arrangeDescriptors(spec.Stderr); err != nil {
		return err
	}
	program, err := lookup(string(spec.Argv[0]), stringsOf(spec.Path))
	if err != nil {
		return err
	}
	argv, env := stringsOf(spec.Argv), stringsOf(spec.Env)
	resetSignals()
	if err := setLimits(spec.Limits); err != nil {
		return err
	}
	if err := restrict(spec.Landlock); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	if err := filter(spec.Filter); err != nil {
		return err
	}
	return fail(StageExec, Raw(program), unix.Exec(program, argv, env))
}

func fail(stage Stage, path Raw, err error) error {
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
			return fail(StageExec, nil, err)
		}
	}
	return fail(StageExec, nil, unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC))
}

func setLimits(limits []Rlimit) error {
	for _, l := range limits {
		if err := unix.Setrlimit(l.Resource, &unix.Rlimit{Cur: l.Value, Max: l.Value}); err != nil {
			return fail(StageLimits, nil, err)
		}
	}
	return nil
}
