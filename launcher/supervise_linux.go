package launcher

import (
	"context"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supervise forwards signals and keeps the time until the command has ended.
// pidfd is the command's process, closed at the end.
func (s *sandbox) supervise(ctx context.Context, cmd Command, pidfd int) (Result, error) {
	defer unix.Close(pidfd)
	ended := make(chan struct{})
	timedOut := make(chan bool, 1)
	go func() { timedOut <- s.watch(ctx, cmd, pidfd, ended) }()
	s.wait()
	close(ended)
	switch {
	case <-timedOut:
		return Result{ExitCode: exitTimedOut, TimedOut: true}, nil
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case !s.status.Exited:
		return Result{}, &SetupError{Step: "bwrap", Reason: "it ended without a status, and the command with it: " + s.waitState.String()}
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
			_ = s.process.Kill()
		case <-ctx.Done():
			_ = s.process.Kill()
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
// kernel ends that only after everything else inside has ended.
func (s *sandbox) wait() {
	if s.waitState != nil {
		return
	}
	s.waitState, _ = s.process.Wait() // a child of ours: cannot fail
	s.drained.Wait()
	if s.init >= 0 {
		fds := []unix.PollFd{{Fd: int32(s.init), Events: unix.POLLIN}}
		for {
			if _, err := unix.Poll(fds, -1); err != unix.EINTR {
				break
			}
		}
		unix.Close(s.init)
	}
}

func (s *sandbox) close() {
	s.socket.Close()
}
