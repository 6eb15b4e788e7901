package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// runFlags are the flags of run beside the policy.
type runFlags struct {
	policy  policyFlags
	shell   string
	backend string
	cwd     string
	timeout string
	require []string
	dryRun  bool
	verbose bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] [--] COMMAND [ARG...]",
		Short: "Run a command in a sandbox",
		Long: `Run a command in a sandbox. Flags end at the first operand: what follows
belongs to the command.

The exit status is the command's own; 128+n if signal n ended it; 124 after a
time-out; 125 if sbx failed and nothing ran; 126 if the command cannot be
executed; 127 if it is not found in the sandbox.`,
		Example: `  sbx run -- ls -l
  sbx run --rw . --preset go -- go build ./...
  sbx run --ro . -c 'grep -r TODO . | wc -l'`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch given := cmd.Flags().Changed("shell"); {
			case !given && len(args) == 0:
				return errors.New("which command? sbx run [flags] -- COMMAND [ARG...]")
			case given && len(args) > 0:
				return errors.New("-c already holds the whole command; arguments after it have no meaning")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(f, args) },
	}
	cmd.Flags().SetInterspersed(false)
	f.policy.register(cmd)
	s := cmd.Flags()
	f.policy.registerSession(s)
	f.policy.registerAttach(s)
	s.StringVarP(&f.shell, "shell", "c", "", "run the `STRING` with /bin/sh -c")
	s.StringVar(&f.backend, "backend", "auto", "how to enforce: auto, bwrap or builtin")
	s.StringVar(&f.cwd, "cwd", "", "start the command in `DIR`, which must be visible")
	s.StringVar(&f.timeout, "timeout", "", "end the command after this `TIME`, such as 30s; the same as --limit timeout=TIME")
	repeatable(s, &f.require, "require", "do not start without this `GUARANTEE`, as doctor names them (repeatable)")
	s.BoolVar(&f.dryRun, "dry-run", false, "print what would be run and start nothing")
	s.BoolVar(&a.ui.quiet, "quiet", false, "no hints and notes")
	s.BoolVar(&f.verbose, "verbose", false, "say on stderr which policy and backend apply")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) run(f runFlags, args []string) error {
	if f.policy.set.Changed("shell") {
		args = []string{"/bin/sh", "-c", f.shell}
	}
	if !f.dryRun {
		reclaim()
	}
	plan, err := a.plan(f)
	if err != nil {
		return err
	}
	dir, err := a.startDirectory(f, plan.Effective)
	if err != nil {
		return err
	}
	cmd := launcher.Command{
		Argv:    args,
		Dir:     dir,
		Env:     withOuter(launcher.Environment(plan.Effective, os.Environ(), dir), plan),
		Timeout: plan.Effective.Limits.Timeout,
		State:   stateDirectory(plan.Effective.Places.Home),
	}
	switch {
	case f.dryRun:
		return a.printPlan(plan, cmd)
	case a.json:
		return a.runCaptured(plan, cmd)
	}
	return a.runAttached(plan, cmd)
}

// plan goes from flags to what will be enforced, and says what it found on
// the way.
func (a *app) plan(f runFlags) (platform.Plan, error) {
	if f.policy.set.Changed("timeout") {
		f.policy.limits = append(f.policy.limits, "timeout="+f.timeout)
	}
	f.policy.starts = !f.dryRun
	l, err := a.load(&f.policy)
	if err != nil {
		return platform.Plan{}, err
	}
	if err := l.Ready(); err != nil {
		return platform.Plan{}, err
	}
	e := l.effective
	plan, err := a.choose(l, platform.Request{
		Backend:   platform.Backend(f.backend),
		Path:      os.Getenv("PATH"),
		CacheDir:  cacheDirectory(e.Places.Home),
		PinsLinks: launcher.PinsLinks,
		Require:   f.require,
	})
	if err == nil && f.verbose {
		a.explainPlan(plan)
	}
	return plan, err
}

func (a *app) explainPlan(plan platform.Plan) {
	e := plan.Effective
	a.ui.line("policy: " + orNone(e.Sources))
	a.ui.line("readable: " + orNone(e.ReadableAsWritten()))
	a.ui.line("writable: " + orNone(e.WritableAsWritten()))
	a.ui.line("network: " + e.Network.Mode.String())
	a.ui.line("backend: " + string(plan.Backend) + " " + plan.Program)
}

// startDirectory is the current directory where the policy shows it, or at
// least something below it, so that relative names mean what they mean to the
// caller. Otherwise it is the private home.
func (a *app) startDirectory(f runFlags, e policy.Effective) (string, error) {
	if f.cwd != "" {
		return visibleDirectory(e, f.cwd)
	}
	cwd := e.Places.Cwd
	if e.CanRead(cwd) || leadsToGrant(e, cwd) {
		return cwd, nil
	}
	return a.startingPlace(e), nil
}

// leadsToGrant reports whether a directory has to exist in the sandbox
// because a granted place lies below it.
func leadsToGrant(e policy.Effective, dir string) bool {
	return slices.ContainsFunc(slices.Concat(e.Readable(), e.Writable()), func(root string) bool {
		return policy.Contains(dir, root)
	})
}

func visibleDirectory(e policy.Effective, dir string) (string, error) {
	p := dir
	if p[0] != '/' {
		p = e.Places.Cwd + "/" + p
	}
	r, d, err := e.Look(policy.Read, p)
	switch {
	case err != nil:
		return "", err
	case !d.Allowed && d.Entry.Kind != policy.Private:
		return "", &policy.PathNotInSandboxError{Op: policy.Read, Path: dir, Boundary: e.ReadableAsWritten()}
	case d.Allowed && r.Type != policy.TypeDir:
		return "", &usageError{err: fmt.Errorf("--cwd %s: %s", dir, notADirectory(r.Type)), verb: "sbx run"}
	}
	return r.Path, nil
}

func notADirectory(t policy.FileType) string {
	if t == policy.TypeMissing {
		return "does not exist"
	}
	return "not a directory"
}

// runAttached gives the command sbx's own streams.
func (a *app) runAttached(plan platform.Plan, cmd launcher.Command) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Reap = true
	cmd.Interactive = isTerminal(os.Stdin) || isTerminal(os.Stdout) || isTerminal(os.Stderr)
	cmd.Terminal = ownTerminal()
	shared := cmd.Interactive && cmd.Terminal == nil
	cmd.Signals = func() <-chan os.Signal { return catchSignals(shared) }
	result, err := launcher.Run(context.Background(), plan, cmd)
	if err != nil {
		return err
	}
	switch {
	case result.TimedOut:
		a.ui.line("the command was ended after " + cmd.Timeout.String())
	case result.Overrun.Any():
		a.ui.line(result.Overrun.String())
	}
	a.reportMade(plan, result)
	for _, gap := range result.Gaps {
		a.ui.note("%s", gap)
	}
	a.code = result.ExitCode
	return nil
}
