package launcher

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a started sandbox-exec, which becomes the command: same number,
// same parent.
type process struct {
	pid     int
	leads   bool   // it leads a session of its own
	file    string // of the profile, needed until it has become the command
	became  bool   // it has
	ended   chan struct{}
	restore func()           // of our signals
	signals <-chan os.Signal // to forward; nil for none
}

// newProcess begins to watch. sandbox-exec has to load, compile and apply the
// profile before it executes the command, so that this comes in time to see it;
// were it late, a command's own 65 or 71 would pass for a failure of
// sandbox-exec.
func newProcess(pid int, file string, leads bool, restore func()) *process {
	p := &process{pid: pid, file: file, leads: leads, ended: make(chan struct{}), restore: restore}
	queue, err := unix.Kqueue()
	if err == nil {
		unix.CloseOnExec(queue)
		var change unix.Kevent_t
		unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD)
		change.Fflags = unix.NOTE_EXEC | unix.NOTE_EXIT
		if _, err = unix.Kevent(queue, []unix.Kevent_t{change}, nil, nil); err != nil {
			unix.Close(queue) // ESRCH: it has ended already
		}
	}
	go func() {
		defer close(p.ended)
		if err != nil || !p.watch(queue) {
			p.poll()
		}
	}()
	return p
}

// watch follows the process to its end, and leaves it to be reaped. ok is
// false if the queue fails before.
func (p *process) watch(queue int) (ok bool) {
	defer unix.Close(queue)
	events := make([]unix.Kevent_t, 1)
	for {
		n, err := unix.Kevent(queue, nil, events, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return false
		case n == 0:
			continue
		}
		if events[0].Fflags&unix.NOTE_EXEC != 0 {
			p.became = true
			if p.file != "" {
				_ = os.Remove(p.file) // it has been read; the run's directory goes at the end
			}
		}
		if events[0].Fflags&unix.NOTE_EXIT != 0 {
			return true
		}
	}
}

// poll stands in for watch where there is no queue. A zombie still takes
// signals; only its state tells.
func (p *process) poll() {
	for {
		info, err := unix.SysctlKinfoProc("kern.proc.pid", p.pid)
		if err != nil || info.Proc.P_stat == zombie {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// zombie is SZOMB of sys/proc.h.
const zombie = 5

// exitTimedOut is what timeout(1) uses.
const exitTimedOut = 124

// supervise forwards signals and keeps the time until the command has ended.
func (p *process) supervise(ctx context.Context, cmd Command) (Result, error) {
	defer p.restore()
	timedOut := p.follow(ctx, cmd)
	if p.leads {
		p.killSession() // before the leader is reaped, its number is still its own
	}
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(p.pid, &status, 0, nil); err != unix.EINTR {
			break
		}
	}
	switch {
	case timedOut:
		return Result{ExitCode: exitTimedOut, TimedOut: true}, nil
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case status.Signaled():
		return Result{ExitCode: 128 + int(status.Signal()), Signal: status.Signal()}, nil
	}
	return Result{ExitCode: status.ExitStatus()}, nil
}

// follow runs until the process has ended.
func (p *process) follow(ctx context.Context, cmd Command) (timedOut bool) {
	grace := cmd.Grace
	if grace == 0 {
		grace = DefaultGrace
	}
	timeout, cancelled := after(cmd.Timeout), ctx.Done()
	var killAll <-chan time.Time
	for {
		select {
		case <-p.ended:
			return timedOut
		case sig := <-p.signals:
			if number, ok := sig.(syscall.Signal); ok {
				p.signal(number)
			}
		case <-timeout:
			timedOut = true
			p.signal(unix.SIGTERM)
			p.signal(unix.SIGCONT) // a stopped process would not see it
			killAll = after(grace)
		case <-killAll:
			p.killAll()
		case <-cancelled:
			cancelled = nil
			p.killAll()
		}
	}
}

func after(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}

// signal reaches the command alone. It is not reaped before follow returns, so
// its number cannot be another's.
func (p *process) signal(sig syscall.Signal) { _ = unix.Kill(p.pid, sig) }

// killAll ends the command and what stems from it.
func (p *process) killAll() {
	all, _ := processes()
	for _, pid := range descendants(p.pid, all) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	p.signal(unix.SIGKILL)
	if p.leads {
		p.killSession()
	}
}

// killSession ends what is left in the command's session. Twice, for what a
// process started while it was looked for.
func (p *process) killSession() {
	for range 2 {
		_ = unix.Kill(-p.pid, unix.SIGKILL)
		all, _ := processes()
		for _, r := range all {
			if session, err := unix.Getsid(r.pid); err == nil && session == p.pid && r.pid != p.pid {
				_ = unix.Kill(r.pid, unix.SIGKILL)
			}
		}
	}
}

// processes lists all of this machine with their parents.
func processes() ([]relative, error) {
	table, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	all := make([]relative, len(table))
	for i, info := range table {
		all[i] = relative{pid: int(info.Proc.P_pid), parent: int(info.Eproc.Ppid)}
	}
	return all, nil
}
