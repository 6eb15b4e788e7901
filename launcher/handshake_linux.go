package launcher

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/launcher/stub"
	"github.com/sbx-run/sbx/platform"
)

var errNoStub = errors.New("bubblewrap ended before anything ran inside")

// handshake gives the stub its orders and waits until it is about to become
// the command. It returns a pidfd of that process: a stub that has not spoken
// again when the pidfd is there waits to be let go, so the number was its own.
//
// The orders are written before the stub is there to read them: it works while
// it is taken in hand.
func (s *sandbox) handshake(spec stub.Spec, cmd Command) (pidfd int, err error) {
	orders, err := stub.Compile(spec) // while the backend sets up
	if err != nil {
		return -1, err
	}
	if _, err := s.socket.Write(orders.Image()); err != nil {
		return -1, closedEarly(err)
	}
	pid, err := s.hello()
	if err != nil {
		return -1, err
	}
	s.holdInit(pid)
	pidfd, err = unix.PidfdOpen(pid, 0)
	switch {
	case s.spoken():
		// The stub has failed by itself: the numbers may be others' by now.
		s.releaseInit()
		unix.Close(pidfd)
		return -1, orders.Await(s.socket)
	case err != nil:
		return -1, err
	}
	if err := s.admit(pid); err != nil {
		return pidfd, err
	}
	if err := s.builder.Attach(pid); err != nil {
		return pidfd, stageError(err)
	}
	// Before, the keys of a terminal are ours: the backend would not hear them.
	s.terminal = seat(cmd, s.pid)
	s.free = true
	if err := stub.LetGo(s.socket); err != nil {
		return pidfd, err
	}
	return pidfd, orders.Await(s.socket)
}

// closedEarly names the end of a backend that never came to its stub. It may
// have died with our orders unread.
func closedEarly(err error) error {
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		return errNoStub
	}
	return err
}

// spoken reports whether the stub has said more than hello, or is gone.
func (s *sandbox) spoken() bool {
	var errno error
	raw, err := s.socket.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			_, _, errno = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		})
	}
	return err != nil || !errors.Is(errno, unix.EAGAIN)
}

// hello reads the first byte with the sender's identity beside it. The
// kernel translates the process id into our namespace.
func (s *sandbox) hello() (pid int, err error) {
	buf, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(unix.SizeofUcred))
	var n, oobn int
	raw, err := s.socket.SyscallConn()
	if err != nil {
		return 0, err
	}
	rerr := raw.Read(func(fd uintptr) bool {
		n, oobn, _, _, err = unix.Recvmsg(int(fd), buf, oob, 0)
		return !errors.Is(err, unix.EAGAIN)
	})
	if err := errors.Join(rerr, err); err != nil {
		return 0, closedEarly(err)
	}
	if n == 0 {
		return 0, errNoStub
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(messages) == 0 {
		return 0, errors.New("the stub's identity is missing")
	}
	cred, err := unix.ParseUnixCredentials(&messages[0])
	if err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}

// fail ends what is left of a sandbox that did not come up and words why. A
// signal that ended the stub was meant for the command.
func (s *sandbox) fail(plan platform.Plan, cmd Command, err error) (Result, error) {
	if s.direct || s.free {
		kill(s.pidfd, unix.SIGKILL) // gone already in most cases
	} else {
		s.socket.Close() // bubblewrap must not be killed early: its stub ends, and it with that
	}
	reason := s.wait(-1)
	if r := s.result(-1); errors.Is(err, stub.ErrGone) && slices.Contains(asked, r.Signal) {
		return r, nil
	}
	return Result{}, s.why(plan, cmd, err, reason)
}

// asked are the signals by which somebody asks a command to end.
var asked = []syscall.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP}

func (s *sandbox) why(plan platform.Plan, cmd Command, err error, reason string) error {
	var f *stub.Failure
	var known *SetupError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &f) && (f.Stage == stub.StageLookup || f.Stage == stub.StageExec):
		return commandError(plan, cmd, f)
	case errors.As(err, &f):
		return &SetupError{Step: string(f.Stage), Path: f.Path, Reason: f.Text}
	}
	if reason == "" {
		reason = err.Error()
	}
	return &SetupError{Step: string(plan.Backend), Reason: reason, Advice: "sbx doctor shows what works on this machine"}
}

// commandError tells "not found" from "not executable" by the error number.
// A script whose interpreter is missing gives ENOENT from execve although the
// file is there.
func commandError(plan platform.Plan, cmd Command, f *stub.Failure) error {
	name := cmd.Argv[0]
	missing := f.Errno == int(unix.ENOENT) || f.Errno == int(unix.ENOTDIR)
	if missing && f.Stage == stub.StageExec {
		return &CommandError{Name: name, Reason: "its interpreter is not in the sandbox", Advice: interpreterAdvice(plan, f.Path)}
	}
	return &CommandError{Name: name, NotFound: missing, Reason: f.Text, Advice: grantAdvice(plan, cmd)}
}

func itoa(n int) string { return strconv.Itoa(n) }

// searchPath returns the directories of PATH in a NAME=VALUE list.
func searchPath(env []string) []string {
	for _, v := range env {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			return strings.Split(list, ":")
		}
	}
	return nil
}
