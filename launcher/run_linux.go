package launcher

import (
	"context"
	"runtime"
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
	type outcome struct {
		result Result
		err    error
	}
	done := make(chan outcome, 1)
	// The parent-death signal is bound to the thread that starts the child:
	// were that thread to end before us, the kernel would kill the sandbox.
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		result, err := run(ctx, plan, cmd)
		done <- outcome{result, err}
	}()
	o := <-done
	return o.result, o.err
}

func run(ctx context.Context, plan platform.Plan, cmd Command) (Result, error) {
	started := time.Now()
	opened, err := openSources(plan.Layout)
	if err != nil {
		return Result{}, err
	}
	sandbox, err := startBwrap(plan, cmd, opened)
	if err != nil {
		opened.Close()
		return Result{}, err
	}
	defer sandbox.close()
	checks := opened.checks(plan.Layout)
	opened.Close()

	spec, err := order(plan, cmd, checks)
	if err != nil {
		return Result{}, sandbox.fail(plan, cmd, err)
	}
	pid, err := sandbox.handshake(spec)
	if err != nil {
		return Result{}, sandbox.fail(plan, cmd, err)
	}
	end, err := sandbox.supervise(ctx, cmd, pid)
	end.Duration = time.Since(started)
	return end, err
}

// order writes down what the stub is to do. It works while the backend starts,
// so it costs no time.
func order(plan platform.Plan, cmd Command, checks []stub.Check) (stub.Spec, error) {
	program, err := filter(plan)
	if err != nil {
		return stub.Spec{}, err
	}
	return stub.Spec{
		Mounts: checks,
		Dir:    stub.Raw(cmd.Dir),
		Argv:   stub.Raws(cmd.Argv),
		Env:    stub.Raws(cmd.Env),
		Path:   stub.Raws(searchPath(cmd.Env)),
		Stderr: stderrFD,
		Limits: rlimits(plan.Effective.Limits),
		Filter: program,
	}, nil
}

// kill ends a process that a pidfd holds; one that is gone is no error.
func kill(pidfd int, sig unix.Signal) {
	if pidfd >= 0 {
		_ = unix.PidfdSendSignal(pidfd, sig, nil, 0)
	}
}
