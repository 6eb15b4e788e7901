package launcher

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// placing is where a started process belongs: in a session of its own, or in
// a process group of its own in ours.
type placing struct{ session, group, dying bool }

// blockSignals keeps what a terminal or kill(0) sends to a whole group away
// from a process that is started now: the mask of the forking thread is
// inherited. What stops a process is let through, because the backend's stop
// is how we learn of the command's. The returned function puts the mask back.
func blockSignals() (restore func()) {
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	for _, sig := range []unix.Signal{unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGCONT, unix.SIGCHLD, unix.SIGURG} {
		all.Val[0] &^= 1 << (uint(sig) - 1)
	}
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before) // fails only on wrong arguments
	return func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }
}

// terminal is the terminal of an interactive run. A nil one is a run without.
type terminal struct {
	fd    int
	ours  int           // our process group
	group int           // the command's, if it has one of its own; else 0
	first bool          // our group was in the foreground when the run began
	modes *unix.Termios // at the beginning
}

// seat finds the terminal of an interactive run and, if the command has a
// group of its own, puts that in the foreground where ours was.
func seat(cmd Command, group int) *terminal {
	if !cmd.Interactive {
		return nil
	}
	for _, f := range []*os.File{cmd.Terminal, cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		if f == nil {
			continue
		}
		modes, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
		if err != nil {
			continue
		}
		t := &terminal{fd: int(f.Fd()), ours: unix.Getpgrp(), modes: modes}
		t.first = t.foreground() == t.ours
		if cmd.Terminal != nil {
			t.group = group
			if t.first {
				t.set(group)
			}
		}
		return t
	}
	return nil
}

func (t *terminal) attached() bool { return t != nil }
func (t *terminal) owned() bool    { return t != nil && t.group > 0 }

func (t *terminal) foreground() int {
	group, err := unix.IoctlGetInt(t.fd, unix.TIOCGPGRP)
	if err != nil {
		return 0 // no controlling terminal
	}
	return group
}

// set makes a group the foreground one. Whoever does that from the background
// is stopped, unless SIGTTOU is blocked.
func (t *terminal) set(group int) {
	defer block(unix.SIGTTOU)()
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, group) // the terminal may be gone
}

func block(sig unix.Signal) (restore func()) {
	var set, before unix.Sigset_t
	set.Val[0] = 1 << (uint(sig) - 1)
	_ = unix.PthreadSigmask(unix.SIG_BLOCK, &set, &before)
	return func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }
}

// stopped acts on a stop of the command's group as a shell does for its job:
// it takes the terminal back and stops as well, so that the shell above sees
// one job. When that continues us, the command goes on where we are.
func (t *terminal) stopped(sig unix.Signal, command int) {
	switch {
	case (sig == unix.SIGTTIN || sig == unix.SIGTTOU) && t.foreground() == t.ours:
		t.resume() // the shell moved us to the foreground without a word
		return
	case !stops(command, sig):
		t.resume() // only the backend has stopped: the command ignores the signal
		return
	}
	if t.foreground() == t.group {
		t.set(t.ours)
	}
	// Sent to this thread, it takes effect before the call returns. In an
	// orphaned group nobody could continue us, and the kernel ignores it.
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGTSTP)
	t.resume()
}

func (t *terminal) resume() {
	if t.foreground() == t.ours {
		t.set(t.group)
	}
	_ = unix.Kill(-t.group, unix.SIGCONT)
}

// giveBack makes ours the foreground group again, if what is there has ended
// with the run: a shell inside leaves its own. A command that was killed could
// not put the terminal's modes back; then we do.
func (t *terminal) giveBack(killed bool) {
	if t == nil || !t.first {
		return
	}
	if group := t.foreground(); group != t.ours {
		if group > 0 && group != t.group && unix.Kill(-group, 0) != unix.ESRCH {
			return // somebody else's by now
		}
		t.set(t.ours)
	}
	if killed {
		defer block(unix.SIGTTOU)()
		_ = unix.IoctlSetTermios(t.fd, unix.TCSETS, t.modes)
	}
}

// stops reports whether the process of a pidfd stops at sig. One that catches
// it gets a moment to put the screen in order.
func stops(pidfd int, sig unix.Signal) bool {
	pid := pidOf(pidfd)
	if pid <= 0 || sig == unix.SIGSTOP {
		return true
	}
	for range 100 {
		state, ignored := stateOf(pid)
		if state == 'T' || state == 0 {
			return true
		}
		if ignored&(1<<(uint(sig)-1)) != 0 {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// pidOf reads the number of a pidfd's process, as we see it.
func pidOf(pidfd int) int {
	b, _ := os.ReadFile("/proc/self/fdinfo/" + itoa(pidfd))
	return int(field(string(b), "Pid:", 10))
}

// stateOf reads state and ignored signals, proc_pid_status(5).
func stateOf(pid int) (state byte, ignored uint64) {
	b, _ := os.ReadFile("/proc/" + itoa(pid) + "/status")
	if _, rest, ok := strings.Cut(string(b), "\nState:\t"); ok && rest != "" {
		state = rest[0]
	}
	return state, uint64(field(string(b), "SigIgn:", 16))
}

func field(text, name string, base int) int64 {
	_, rest, _ := strings.Cut(text, name)
	word, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	n, _ := strconv.ParseUint(word, base, 64)
	return int64(n)
}
