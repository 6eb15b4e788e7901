package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// pty is a pseudo-terminal with a process on it, driven as a user would: by
// what is typed and what is seen.
type pty struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	cmd    *exec.Cmd

	mu   sync.Mutex
	seen bytes.Buffer
	from int // where the next expectation begins to look
}

// newPTY starts cmd as the leader of a session that has the terminal.
func newPTY(t *testing.T, cmd *exec.Cmd) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	// By raw calls: File.Fd would make the master blocking, and closing it would then not end a read.
	var n int
	control(t, master, func(fd int) (err error) {
		if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
			n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		}
		return err
	})
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	p := &pty{t: t, master: master, slave: slave, cmd: cmd}
	p.resize(24, 80)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	go p.watch()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		slave.Close()
		master.Close()
	})
	return p
}

func control(t *testing.T, f *os.File, do func(fd int) error) {
	t.Helper()
	raw, err := f.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) { err = do(int(fd)) }))
	require.NoError(t, err)
}

func (p *pty) watch() {
	chunk := make([]byte, 4096)
	for {
		n, err := p.master.Read(chunk)
		p.mu.Lock()
		p.seen.Write(chunk[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *pty) resize(rows, columns uint16) {
	p.t.Helper()
	control(p.t, p.master, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns})
	})
}

func (p *pty) modes() unix.Termios {
	p.t.Helper()
	modes, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	require.NoError(p.t, err)
	return *modes
}

// types sends keys.
func (p *pty) types(keys string) {
	p.t.Helper()
	_, err := p.master.WriteString(keys)
	require.NoError(p.t, err)
}

// The keys that make signals.
const (
	ctrlC         = "\x03"
	ctrlZ         = "\x1a"
	ctrlBackslash = "\x1c"
	ctrlD         = "\x04"
)

// screen is all that was seen.
func (p *pty) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

// sees waits until text appears after what was seen before.
func (p *pty) sees(text string) {
	p.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		all := p.screen()
		if at := strings.Index(all[p.from:], text); at >= 0 {
			p.from += at + len(text)
			return
		}
		if time.Now().After(deadline) {
			require.Failf(p.t, "not seen", "%q in:\n%s", text, all)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// ends waits for the leader and returns its exit status.
func (p *pty) ends() int {
	p.t.Helper()
	done := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		require.Failf(p.t, "does not end", "%s", p.screen())
	}
	return p.cmd.ProcessState.ExitCode()
}
