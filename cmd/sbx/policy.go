package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

func (a *app) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Look at a policy: what it grants, how it is enforced, what is wrong with it",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.policyShow(), a.policyRender(), a.policyValidate(), a.policySchema())
	return cmd
}

// rendered is what "policy render --json" prints.
type rendered struct {
	Backend platform.Backend  `json:"backend"`
	Argv    []string          `json:"argv"`
	Profile string            `json:"profile,omitempty"`
	Params  map[string]string `json:"params,omitempty"`
}

func (a *app) policyRender() *cobra.Command {
	var f policyFlags
	var backend string
	cmd := &cobra.Command{
		Use:   "render [flags]",
		Short: "Print the backend's arguments or profile for a policy",
		Long: `Print what a policy becomes for a backend, on any system: the bubblewrap command
line, or the profile for Seatbelt. A run makes the same mounts, but names their
sources by descriptors; its profile is the same but for the parameters, which
are its own private directories, and for the terminal that it inherits.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.load(&f)
			if err != nil {
				return err
			}
			e := l.effective
			return a.render(e, platform.Backend(backend))
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&backend, "backend", string(platform.Bwrap), "bwrap or seatbelt")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) render(e policy.Effective, backend platform.Backend) error {
	switch backend {
	case platform.Bwrap, platform.Auto:
	case platform.Seatbelt:
		return a.renderSeatbelt(e)
	default:
		return &usageError{err: fmt.Errorf("--backend %s: nothing to render; want bwrap or seatbelt", backend), verb: "sbx policy render"}
	}
	layout, err := bwrap.NewLayout(e)
	if err != nil {
		return err
	}
	argv := backendArgv(e, layout, bwrap.AllFeatures(), "")
	if a.json {
		a.ui.object(rendered{Backend: platform.Bwrap, Argv: argv})
		return nil
	}
	fmt.Fprintln(a.ui.out, shellLine(argv))
	return nil
}

// fault is one row of "policy validate --json".
type fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func (a *app) policyValidate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Report every fault of policy files, with line and column",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			host, err := surroundings()
			if err != nil {
				return err
			}
			faults := []fault{}
			for _, file := range files {
				for _, f := range config.Validate(file, host) {
					faults = append(faults, fault{f.File, f.Line, f.Col, f.Message, f.Fix})
				}
			}
			if len(faults) > 0 {
				a.code = exitNo
			}
			if a.json {
				a.ui.object(map[string]any{"errors": faults})
				return nil
			}
			for _, f := range faults {
				a.ui.line(fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Col, f.Message))
				a.ui.hint(f.Hint)
			}
			if len(faults) == 0 {
				a.ui.note("valid: %s", orNone(files))
			}
			return nil
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) policySchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of sbx.yaml, for editors",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.ui.out.Write(config.Schema())
			return err
		},
	}
}
