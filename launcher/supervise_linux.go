package launcher

import (
	"context"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// hold gives a started sandbox what it is supervised with.
func (s *sandbox) hold(kept *bounds, cmd Command) {
	s.bounds, s.admit = kept, kept.admit
	s.reaps = s.direct && cmd.Reap
}

// supervise forwards signals, keeps the time and the limits until the command
// has ended. pidfd is the command's process, closed at the end.
func (s *sandbox) supervise(ctx context.Context, cmd Command, pidfd int) (Result, error) {
	defer unix.Close(pidfd)
	s.bounds.group.seal(s.bounds.limits.Processes)
	w := &watch{sandbox: s, pidfd: pidfd, ended: make(chan struct{})}
	go w.run(ctx, cmd)
	s.wait(pidfd)
	s.bounds.settle()
	v := w.end() // what is reaped from here on is no longer anybody's to stop
	if s.reaps {
		reapAll()
	}
	result := s.result(pidfd)
	switch {
	case v.timedOut:
		result.ExitCode, result.TimedOut = exitTimedOut, true
	case v.overrun.Any():
		result.Overrun = v.overrun
		result.ExitCode, result.Signal = 128+int(unix.SIGKILL), unix.SIGKILL
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	default:
		result.Overrun = s.bounds.blame(result)
	}
	s.terminal.giveBack(v.timedOut || result.Signal != 0)
	return result, nil
}

// exitTimedOut is what timeout(1) uses.
const exitTimedOut = 124

// result says how the command ended. bubblewrap folds signals into exit codes;
// the kernel keeps the two apart.
func (s *sandbox) result(pidfd int) Result {
	if s.direct || s.ended.Signaled() { // with bubblewrap killed, the command was too
		return resultOf(*s.ended)
	}
	code := s.ended.ExitStatus()
	if status, ok := statusOf(pidfd); ok && exitCodeOf(status) == code {
		return resultOf(status)
	}
	return Result{ExitCode: code, Signal: foldedSignal(code)}
}

func resultOf(status unix.WaitStatus) Result {
	r := Result{ExitCode: exitCodeOf(status)}
	if status.Signaled() {
		r.Signal = status.Signal()
	}
	return r
}

// statusOf asks for the wait status of a process that is not our child and was
// reaped while we held it (PIDFD_INFO_EXIT, Linux 6.15).
func statusOf(pidfd int) (unix.WaitStatus, bool) {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	if err := unix.IoctlPidfdInfo(pidfd, &info); err != nil || info.Mask&unix.PIDFD_INFO_EXIT == 0 {
		return 0, false
	}
	return unix.WaitStatus(info.Exit_code), true
}

// foldedSignal reads a signal out of an exit code the way a shell does.
func foldedSignal(code int) syscall.Signal {
	if code > 128 && code <= 128+64 {
		return syscall.Signal(code - 128)
	}
	return 0
}

// killAll ends everything: with bubblewrap the kernel ends the namespace.
// Without, whoever reaps does the rest, once nothing can fork any more.
func (s *sandbox) killAll() {
	if s.direct {
		s.bounds.group.kill()
	}
	if s.reaps {
		freeze()
	}
	kill(s.pidfd, unix.SIGKILL)
}

// wait reaps bubblewrap and waits until process 1 of the sandbox is gone. The
// kernel ends that only after everything else inside has ended. It returns
// what bubblewrap complained about, if anything. pidfd is the command's
// process, -1 if there is none.
func (s *sandbox) wait(pidfd int) (reason string) {
	if s.ended != nil {
		return ""
	}
	s.ended = new(unix.WaitStatus)
	s.awaitChild(pidfd)
	if s.direct && !s.terminal.attached() {
		// The child is a zombie that leads its group, so the number is still
		// its own. Whoever reaps gets the rest.
		_ = unix.Kill(-s.pid, unix.SIGKILL)
	}
	for {
		if _, err := unix.Wait4(s.pid, s.ended, 0, nil); err != unix.EINTR {
			break
		}
	}
	reason = s.lastWords()
	if s.init >= 0 {
		awaitEnd(s.init)
		unix.Close(s.init)
	}
	return reason
}

// pollChild leaves the waiting for the end to the runtime's poller. An error
// says that it cannot.
func (s *sandbox) pollChild() error {
	fd, err := unix.FcntlInt(uintptr(s.pidfd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return err
	}
	child := os.NewFile(uintptr(fd), "pidfd")
	defer child.Close()
	raw, err := child.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		var info unix.Siginfo
		err = unix.Waitid(unix.P_PIDFD, int(fd), &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		return err != nil || info.Signo != 0
	})
}

// awaitChild returns when our child has ended, and leaves it to be reaped.
// While it is stopped, so are we.
func (s *sandbox) awaitChild(pidfd int) {
	if !s.terminal.owned() && s.pollChild() == nil {
		return
	}
	events := unix.WEXITED | unix.WNOWAIT
	if s.terminal.owned() {
		events |= unix.WSTOPPED
	}
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, s.pid, &info, events, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil || info.Code != childStopped:
			return
		}
		var status unix.WaitStatus
		_, _ = unix.Wait4(s.pid, &status, unix.WUNTRACED|unix.WNOHANG, nil) // takes the event
		if status.Stopped() {
			s.terminal.stopped(status.StopSignal(), pidfd)
		}
	}
}

// childStopped is CLD_STOPPED of waitid(2).
const childStopped = 5

func exitCodeOf(status unix.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// awaitEnd blocks until the process of a pidfd has ended.
func awaitEnd(pidfd int) {
	fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(fds, -1); err != unix.EINTR {
			return
		}
	}
}
