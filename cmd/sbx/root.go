package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// app is what the verbs share: where words go, and how they are to be written.
type app struct {
	ui   ui
	json bool
	code int // exit code of a verb that ended without an error
}

// execute runs one command line and returns the exit code.
func execute(args []string) int {
	a := &app{ui: newUI(os.Stdout, os.Stderr)}
	root := a.command(args)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err == nil {
		return a.code
	}
	code := exitCode(cmd.Name(), err)
	a.ui.failure(err, a.json)
	return code
}

func (a *app) command(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "sbx",
		Short: "Run a command under kernel-enforced limits",
		Long: `sbx starts a command under kernel-enforced limits on what it may read, write
and reach. Without grants a command sees the system's programs, an empty home
and an empty /tmp; the network is off.

  sbx run -- ls -l                    nothing of yours is visible
  sbx run --ro . -- make check        this directory, read-only
  sbx run --rw . --preset go -- go test ./...
  sbx check write ~/.ssh/config       would it be allowed, and by which rule?
  sbx policy show --rw .              everything that a command would see`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownVerb,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{err: err, verb: cmd.CommandPath()}
	})
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = false
	root.CompletionOptions.DisableDefaultCmd = isRun(args)
	root.AddCommand(a.verbs(args)...)
	for _, c := range root.Commands() {
		wrapUsage(c)
	}
	return root
}

// verbs builds the verb that the command line names, and all of them where
// it names none: a run's start should not pay for the flags of the others.
func (a *app) verbs(args []string) []*cobra.Command {
	if isRun(args) {
		return []*cobra.Command{a.runCommand()}
	}
	return []*cobra.Command{
		a.runCommand(), a.checkCommand(), a.policyCommand(), a.readCommand(), a.writeCommand(), a.listCommand(), a.initCommand(), a.trustCommand(), a.sessionCommand(), a.workspaceCommand(),
		a.doctorCommand(), a.versionCommand(),
	}
}

func isRun(args []string) bool { return len(args) > 0 && args[0] == "run" }

// knownVerb refuses what is no verb, and says which one was perhaps meant.
func knownVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	e := &usageError{err: fmt.Errorf("unknown command %q", args[0]), verb: cmd.CommandPath()}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		e.advice = "did you mean " + near[0] + "?"
	}
	return e
}

// usageError is a command line that cannot be understood.
type usageError struct {
	err    error
	verb   string
	advice string // instead of the pointer to the verb's help
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Hint points to the help of the verb, or to what was meant.
func (e *usageError) Hint() string {
	if e.advice != "" {
		return e.advice
	}
	return e.verb + " --help shows how it is used"
}

// wrapUsage marks what cobra says about arguments as usage errors.
func wrapUsage(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			var usage *usageError
			if err == nil || errors.As(err, &usage) {
				return err
			}
			return &usageError{err: err, verb: cmd.CommandPath()}
		}
	}
	for _, sub := range c.Commands() {
		wrapUsage(sub)
	}
}
