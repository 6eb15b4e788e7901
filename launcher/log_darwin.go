package launcher

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/sbx-run/sbx/seatbelt"
)

// The log is read by a program of the system, outside of any sandbox. It sees
// what happens after it has said so, late and not all of it.
const (
	logBegins = time.Second            // to wait for its first word
	logGrace  = 250 * time.Millisecond // for what is still on its way at the end
	longLine  = 1 << 20                // bytes of one record
)

// logReader collects the refusals of one run.
type logReader struct {
	tag  string
	cmd  *exec.Cmd
	done chan struct{} // closed when its output has ended

	once  sync.Once
	mu    sync.Mutex
	begun bool
	list  []seatbelt.Refusal
}

// followLog starts to read and waits until the reader is ready, or for a
// second. It returns nil if it cannot be started.
func followLog(tag string) *logReader {
	argv := seatbelt.LogArgv(tag)
	l := &logReader{tag: tag, cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	l.cmd.Dir, l.cmd.Env = "/", []string{}
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	l.cmd.Stdout, l.cmd.Stderr = w, w
	err = l.cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil
	}
	ready := make(chan struct{})
	go l.read(r, ready)
	select {
	case <-ready:
	case <-l.done:
	case <-time.After(logBegins):
	}
	return l
}

func (l *logReader) read(r io.ReadCloser, ready chan<- struct{}) {
	defer close(l.done)
	defer r.Close()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longLine)
	for lines.Scan() {
		l.mu.Lock()
		if !l.begun && seatbelt.LogBegun(lines.Text()) {
			l.begun = true
			close(ready)
		}
		if refusal, ok := seatbelt.ParseRefusal(lines.Text(), l.tag); ok {
			l.list = seatbelt.AddRefusal(l.list, refusal)
		}
		l.mu.Unlock()
	}
}

// finish waits for what is still on its way and returns what was seen, with
// what the caller has to know about it. A nil reader was never started.
func (l *logReader) finish() (denials []Denial, gap string) {
	const unknown = "denials are unknown: the system's log could not be followed"
	if l == nil {
		return nil, unknown
	}
	time.Sleep(logGrace)
	l.stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		return nil, unknown
	}
	return denialsOf(l.list), "denials come from the system's log, which drops and merges entries: best effort"
}

// stop ends the reader; a nil one was never started.
func (l *logReader) stop() {
	if l == nil {
		return
	}
	l.once.Do(func() {
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
		select {
		case <-l.done:
		case <-time.After(logGrace):
		}
	})
}
