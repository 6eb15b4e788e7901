package launcher

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/launcher/stub"
	"github.com/sbx-run/sbx/platform"
)

// Run starts the command under the plan and waits for its end. Cancelling ctx
// kills everything at once. An error says that the command did not run: a
// *CommandError where the command is at fault, a *SetupError otherwise.
func Run(ctx context.Context, plan platform.Plan, cmd Command) (Result, error) {
	if len(cmd.Argv) == 0 {
		return Result{}, &CommandError{NotFound: true}
	}
	if cmd.Interactive { // masks of a thread and signals to it go with a terminal
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	result, err := run(ctx, plan, cmd)
	if err == nil {
		result.Made = madeBy(plan.Effective)
	}
	return result, err
}

func run(ctx context.Context, plan platform.Plan, cmd Command) (Result, error) {
	begun := time.Now()
	start := startBwrap
	if plan.Backend != platform.Bwrap {
		start = startBuiltin
	}
	catch := sync.OnceValue(cmd.caught)
	if leavesTraces(plan) {
		catch() // what is made from here on has to be removed
	}
	kept, err := boundsFor(plan)
	if err != nil {
		return Result{}, err
	}
	defer kept.release()
	standIns, err := holdPlaceholders(plan.Layout.Placeholders, stateDirectory(plan, cmd))
	if err != nil {
		return Result{}, err
	}
	defer standIns.release()
	var sandbox *sandbox
	var orders stub.Spec
	release := onKeptThread(func() { sandbox, orders, err = start(plan, cmd) })
	defer release()
	if err != nil {
		return Result{}, err
	}
	defer sandbox.close()
	sandbox.signals = catch() // its goroutine and thread start while bubblewrap works
	sandbox.hold(kept, cmd)
	orders.Held = sandbox.builder != nil || kept.watches()
	pidfd, err := sandbox.handshake(orders, cmd)
	if err != nil {
		if pidfd >= 0 {
			unix.Close(pidfd)
		}
		return sandbox.fail(plan, cmd, err)
	}
	end, err := sandbox.supervise(ctx, cmd, pidfd)
	end.Duration, end.Gaps = time.Since(begun), kept.gaps
	return end, err
}

// leavesTraces reports whether a run makes something outside of the sandbox:
// its scratch directory, placeholders, or a control group.
func leavesTraces(plan platform.Plan) bool {
	l := plan.Effective.Limits
	return plan.Backend != platform.Bwrap || len(plan.Layout.Placeholders) > 0 || l.Memory > 0 || l.Processes > 0
}

// onKeptThread runs start on a thread that lives until release. The
// parent-death signal is bound to the thread that starts the child: were that
// to end before us, the kernel would kill the sandbox. The calling goroutine
// stays free to move, so that waiting costs no second thread.
func onKeptThread(start func()) (release func()) {
	done, end := make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		start()
		close(done)
		<-end
	}()
	<-done
	return func() { close(end) }
}

// ordersFor writes down what the stub is to do under any backend.
func ordersFor(plan platform.Plan, cmd Command) stub.Spec {
	return stub.Spec{
		Dir:    cmd.Dir,
		Argv:   cmd.Argv,
		Env:    cmd.Env,
		Path:   searchPath(cmd.Env),
		Limits: rlimits(plan),
		Filter: filter(plan),
	}
}

// kill ends a process that a pidfd holds; one that is gone is no error.
func kill(pidfd int, sig unix.Signal) {
	if pidfd >= 0 {
		_ = unix.PidfdSendSignal(pidfd, sig, nil, 0)
	}
}
