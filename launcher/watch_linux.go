package launcher

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// verdict is why the watch has ended a run; the zero value is that it has not.
type verdict struct {
	timedOut bool
	overrun  Overrun
}

// watch forwards signals and keeps the time and the limits beside the thread
// that waits for the end. That one does not wait for the watch: what the watch
// does to the run's processes, it does under the lock and never once the run
// is over, when their numbers may be others'.
type watch struct {
	sandbox *sandbox
	pidfd   int // the command's process

	mu      sync.Mutex
	over    bool
	verdict verdict
	ended   chan struct{} // closed when it is over
}

// end stops the watch and returns what it has done.
func (w *watch) end() verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	close(w.ended)
	return w.verdict
}

// act does something to the run, unless it is over.
func (w *watch) act(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		do()
	}
}

// run watches until the end.
func (w *watch) run(ctx context.Context, cmd Command) {
	grace := cmd.Grace
	if grace == 0 {
		grace = DefaultGrace
	}
	bounds := w.sandbox.bounds
	var killAll, look <-chan time.Time
	if bounds.watches() {
		look = time.After(bounds.pause(0))
	}
	timeout := timer(cmd.Timeout)
	for {
		select {
		case <-w.ended:
			return
		case sig := <-w.sandbox.signals:
			w.act(func() { w.forward(sig) })
		case <-timeout:
			w.act(w.timeOut)
			killAll = timer(grace)
		case <-look:
			begun := time.Now()
			over := bounds.overrun(w.sandbox)
			w.act(func() { w.overrun(over) })
			look = time.After(bounds.pause(time.Since(begun)))
		case <-killAll:
			w.act(w.sandbox.killAll)
		case <-ctx.Done():
			w.act(w.sandbox.killAll)
			return
		}
	}
}

func (w *watch) forward(sig os.Signal) {
	if number, ok := sig.(syscall.Signal); ok {
		kill(w.pidfd, number)
	}
}

func (w *watch) timeOut() {
	w.verdict.timedOut = true
	kill(w.pidfd, unix.SIGTERM)
	kill(w.pidfd, unix.SIGCONT) // a stopped process would not see it
}

// overrun ends a run that is over a limit, and not being ended already.
func (w *watch) overrun(over Overrun) {
	if !over.Any() || w.verdict != (verdict{}) {
		return
	}
	w.verdict.overrun = Overrun{Limit: over.Limit, Stopped: true}
	w.sandbox.killAll()
}

func timer(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}
