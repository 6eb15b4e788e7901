package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// runResult is what "run --json" prints. The fields are part of the contract.
//
// A stream that is not UTF-8 comes twice: as text in which U+FFFD stands for
// each wrong byte, and complete in base64, without the line that says how much
// was dropped. A stream that is UTF-8 has no base64 field.
type runResult struct {
	ExitCode        int                  `json:"exit_code"`
	Signal          int                  `json:"signal"`
	TimedOut        bool                 `json:"timed_out"`
	Stdout          string               `json:"stdout"`
	Stderr          string               `json:"stderr"`
	StdoutBase64    string               `json:"stdout_base64,omitempty"`
	StderrBase64    string               `json:"stderr_base64,omitempty"`
	StdoutTruncated bool                 `json:"stdout_truncated"`
	StderrTruncated bool                 `json:"stderr_truncated"`
	DurationMS      int64                `json:"duration_ms"`
	Backend         platform.Backend     `json:"backend"`
	Guarantees      []platform.Guarantee `json:"guarantees"`
	Notes           []string             `json:"notes"`
	Denials         []denial             `json:"denials"`
}

// denial is one access that was refused while the command ran.
type denial struct {
	Operation string `json:"operation"`
	Path      string `json:"path"`
	Process   string `json:"process"`
	Count     int    `json:"count"`
	Rule      string `json:"rule"`
	AllowWith string `json:"allow_with"`
}

// runCaptured runs the command without a terminal and prints one object.
func (a *app) runCaptured(plan platform.Plan, cmd launcher.Command) error {
	cmd.Stdin, cmd.Reap, cmd.Denials = os.Stdin, true, true
	cmd.Signals = func() <-chan os.Signal { return catchSignals(false) }
	got, err := launcher.Capture(context.Background(), plan, cmd)
	if err != nil {
		return err
	}
	a.ui.object(runResult{
		ExitCode: got.ExitCode, Signal: int(got.Signal), TimedOut: got.TimedOut,
		Stdout: got.Stdout.Marked(), Stderr: got.Stderr.Marked(),
		StdoutBase64: rawOf(got.Stdout), StderrBase64: rawOf(got.Stderr),
		StdoutTruncated: got.Stdout.Truncated(), StderrTruncated: got.Stderr.Truncated(),
		DurationMS: got.Duration.Milliseconds(),
		Backend:    got.Backend, Guarantees: orEmpty(got.Guarantees),
		Notes: append(orEmpty(got.Notes), madeNotes(got.Made, plan.Effective.Places.Cwd)...), Denials: denialsOf(plan.Effective, got.Denials),
	})
	a.code = got.ExitCode
	return nil
}

// rawOf is the exact content of a stream that a JSON string cannot hold.
func rawOf(t launcher.Text) string {
	if t.Valid() {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(t.Content))
}

// printPlan shows what a run would do, as a command line that a shell takes.
func (a *app) printPlan(plan platform.Plan, cmd launcher.Command) error {
	if plan.Backend == platform.Seatbelt {
		return a.printSeatbeltPlan(plan, cmd)
	}
	argv := append(backendArgv(plan.Effective, plan.Layout, plan.Features, cmd.Dir), "--")
	if a.json {
		a.ui.object(rendered{Backend: plan.Backend, Argv: append(argv, cmd.Argv...)})
		return nil
	}
	fmt.Fprintln(a.ui.out, shellLine(append(argv, cmd.Argv...)))
	return nil
}

// backendArgv is the bubblewrap command line by paths. A run names the same
// mounts by descriptors and lets the stub check them.
func backendArgv(e policy.Effective, layout bwrap.Layout, features bwrap.Features, dir string) []string {
	return append([]string{"bwrap"}, bwrap.Args(layout, bwrap.Options{
		Features: features,
		ShareNet: e.Network.Mode == policy.NetworkOn,
		Chdir:    dir,
	})...)
}

// shellLine writes argv as shell words, one option with its values a line.
func shellLine(argv []string) string {
	var b strings.Builder
	for i, arg := range argv {
		switch {
		case i == 0:
		case strings.HasPrefix(arg, "--"):
			b.WriteString(" \\\n  ")
		default:
			b.WriteByte(' ')
		}
		b.WriteString(policy.ShellQuote(arg))
	}
	return b.String()
}

func orEmpty[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func orNone(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	return strings.Join(items, ", ")
}
