package launcher

import (
	"context"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/bwrap"
)

// supervise forwards signals and keeps the time until the command has ended.
// pidfd is the command's process, closed at the end.
func (s *sandbox) supervise(ctx context.Context, cmd Command, pidfd int) (Result, error) {
	defer unix.Close(pidfd)
	ended := make(chan struct{})
	timedOut := make(chan bool, 1)
	go func() { timedOut <- s.watch(ctx, cmd, pidfd, ended) }()
	s.wait()
	if s.direct && cmd.Reap {
		reapAll()
	}
	close(ended)
	switch {
	case <-timedOut:
		return Result{ExitCode: exitTimedOut, TimedOut: true}, nil
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case !s.status.Exited:
		return Result{}, &SetupError{Step: "bwrap", Reason: "it ended without a status, and the command with it: " + manner(*s.ended)}
	}
	return Result{ExitCode: s.status.ExitCode}, nil
}

// exitTimedOut is what timeout(1) uses.
const exitTimedOut = 124

// watch runs until ended and reports whether the time-out struck.
func (s *sandbox) watch(ctx context.Context, cmd Command, pidfd int, ended <-chan struct{}) bool {
	grace := cmd.Grace
	if grace == 0 {
		grace = DefaultGrace
	}
	timeout, killAll := timer(cmd.Timeout), (<-chan time.Time)(nil)
	timedOut := false
	for {
		select {
		case <-ended:
			return timedOut
		case sig := <-cmd.Signals:
			if number, ok := sig.(syscall.Signal); ok {
				kill(pidfd, number)
			}
		case <-timeout:
			timedOut = true
			kill(pidfd, unix.SIGTERM)
			killAll = timer(grace)
		case <-killAll:
			kill(s.pidfd, unix.SIGKILL)
		case <-ctx.Done():
			kill(s.pidfd, unix.SIGKILL)
			<-ended
			return timedOut
		}
	}
}

func timer(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}

// wait reaps bubblewrap and waits until process 1 of the sandbox is gone. The
// kernel ends that only after everything else inside has ended. It returns
// what bubblewrap complained about, if anything.
func (s *sandbox) wait() (reason string) {
	if s.ended != nil {
		return ""
	}
	s.ended = new(unix.WaitStatus)
	for {
		if _, err := unix.Wait4(s.pid, s.ended, 0, nil); err != unix.EINTR {
			break
		}
	}
	reason = s.lastWords()
	if s.direct {
		s.status = bwrap.Status{ExitCode: exitCodeOf(*s.ended), Exited: true}
	}
	if s.init >= 0 {
		awaitEnd(s.init)
		unix.Close(s.init)
	}
	return reason
}

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

// manner says how a process ended.
func manner(status unix.WaitStatus) string {
	if status.Signaled() {
		return "signal " + unix.SignalName(status.Signal())
	}
	return "status " + itoa(status.ExitStatus())
}
