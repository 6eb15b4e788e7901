package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sbx-run/sbx/policy"
)

// verdict is one answer of check. The fields are part of the contract.
type verdict struct {
	Operation string `json:"operation"`
	Path      string `json:"path"`
	Resolved  string `json:"resolved"`
	Allowed   bool   `json:"allowed"`
	Reason    string `json:"reason"`
	Rule      string `json:"rule"`
	AllowWith string `json:"allow_with"`
	Note      string `json:"note,omitempty"` // where the built-in tools are stricter than the kernel
}

func (a *app) checkCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Ask whether an access would be allowed, and by which rule",
		Long: `Ask whether an access would be allowed, and by which rule. The answer is the
kernel's: a run with the same flags does the same. Exit status: 0 if all is
allowed, 1 if anything is not, 2 if there is no answer.`,
		Example: `  sbx check read ~/.ssh/id_ed25519
  sbx check write --config sbx.yaml ./out ./src/main.go
  sbx check connect example.com:443`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		a.checkPaths("read", policy.Read), a.checkPaths("write", policy.Write), a.checkConnect(),
	)
	return cmd
}

func (a *app) checkPaths(name string, op policy.Access) *cobra.Command {
	var f policyFlags
	var sandboxPath bool
	cmd := &cobra.Command{
		Use:   name + " [flags] PATH...",
		Short: "Would a command be allowed to " + name + " these paths?",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.load(&f)
			if err != nil {
				return err
			}
			verdicts := make([]verdict, len(args))
			for i, arg := range args {
				verdicts[i] = judge(l, op, arg, sandboxPath)
			}
			return a.answer(verdicts)
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&sandboxPath, "sandbox-path", false, "PATH is a path of the sandbox, such as docs/intro.md or /src, not of the host")
	a.jsonFlag(cmd)
	return cmd
}

// judge answers for one path as the command line gave it: a path of the host,
// or with sandboxPath one of the sandbox.
func judge(l loaded, op policy.Access, arg string, sandboxPath bool) verdict {
	var x policy.Explanation
	switch {
	case sandboxPath:
		x = l.sandbox.Explain(op, arg)
	case strings.HasPrefix(arg, "/"):
		x = l.effective.Explain(op, arg)
	default:
		x = l.effective.Explain(op, l.effective.Places.Cwd+"/"+arg)
	}
	v := verdict{
		Operation: op.String(), Path: arg, Resolved: x.Resolved, Allowed: x.Allowed,
		Reason: x.Reason, Rule: x.Entry.Rule.String(), AllowWith: x.AllowWith,
	}
	if x.Tools != nil {
		v.Note = "sbx read and write refuse it: " + strings.ReplaceAll(x.Tools.Error(), "\n", " ")
	}
	return v
}

func (a *app) checkConnect() *cobra.Command {
	var f policyFlags
	cmd := &cobra.Command{
		Use:   "connect [flags] HOST[:PORT]...",
		Short: "Would a command be allowed to reach these hosts?",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.load(&f)
			if err != nil {
				return err
			}
			e := l.effective
			verdicts := make([]verdict, len(args))
			for i, arg := range args {
				h, err := policy.ParseHostRule(arg)
				if err != nil {
					return &usageError{err: err, verb: "sbx check connect"}
				}
				d := e.Connect(h.Host, h.Port)
				verdicts[i] = verdict{Operation: "connect", Path: arg, Resolved: h.String(), Allowed: d.Allowed, Reason: d.Reason, Rule: d.Entry.Rule.String()}
				if !d.Allowed && e.Network.Mode == policy.NetworkOff && (l.outer == nil || l.outer.NetworkEnabled()) {
					verdicts[i].AllowWith = "--net"
				}
			}
			return a.answer(verdicts)
		},
	}
	f.register(cmd)
	a.jsonFlag(cmd)
	return cmd
}

// answer prints the verdicts and makes the exit code of them.
func (a *app) answer(verdicts []verdict) error {
	if a.json {
		a.ui.object(verdicts)
	}
	for _, v := range verdicts {
		if !v.Allowed {
			a.code = exitNo
		}
		if !a.json {
			a.printVerdict(v)
		}
	}
	return nil
}

func (a *app) printVerdict(v verdict) {
	word := a.ui.paint(green, "allowed")
	if !v.Allowed {
		word = a.ui.paint(red, "not allowed")
	}
	fmt.Fprintf(a.ui.out, "%s: %s %s: %s", word, v.Operation, printable(v.Path), printable(v.Reason))
	if v.Rule != "" {
		fmt.Fprintf(a.ui.out, " [%s]", printable(v.Rule))
	}
	fmt.Fprintln(a.ui.out)
	if v.Resolved != v.Path && v.Operation != "connect" {
		fmt.Fprintf(a.ui.out, "  resolved: %s\n", printable(v.Resolved))
	}
	if v.Note != "" {
		fmt.Fprintf(a.ui.out, "  note: %s\n", printable(v.Note))
	}
	if v.AllowWith != "" {
		fmt.Fprintf(a.ui.out, "  hint: %s would allow it\n", printable(v.AllowWith))
	}
}
