package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sbx-run/sbx/platform"
)

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine can enforce, and what would change that",
		Long: `Say what this machine can enforce, and what would change that. Every row was
tried here and now. Exit status: 0 if commands can run, 1 if not.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cwd, err := workingDirectory()
			if err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			report := platform.Doctor(platform.Surroundings{Path: os.Getenv("PATH"), Cwd: cwd, Self: self})
			if !report.Usable() {
				a.code = exitNo
			}
			if a.json {
				a.ui.object(report)
				return nil
			}
			a.printReport(report)
			return nil
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) printReport(r platform.Report) {
	colors := map[platform.State]int{platform.OK: green, platform.Warning: yellow, platform.Missing: red}
	width := 0
	for _, f := range r.Findings {
		width = max(width, len(f.Name))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(a.ui.out, "%s  %-*s  %s\n", a.ui.paint(colors[f.State], fmt.Sprintf("%-7s", f.State)), width, f.Name, printable(f.Detail))
		if f.Remedy != "" {
			fmt.Fprintf(a.ui.out, "%*s  hint: %s\n", 9+width, "", printable(f.Remedy))
		}
	}
	if r.Usable() {
		a.printGuarantees(r)
		return
	}
	fmt.Fprintln(a.ui.out, "no backend works here: commands do not run")
}

// printGuarantees says what a run would hold, and for the rest why not.
func (a *app) printGuarantees(r platform.Report) {
	fmt.Fprintf(a.ui.out, "\ncommands run under %s, which guarantees\n", r.Backend)
	for _, g := range r.Guarantees {
		mark := a.ui.paint(green, "yes")
		if !g.Held {
			mark = a.ui.paint(red, "no ")
		}
		fmt.Fprintf(a.ui.out, "%s      %-18s %s\n", mark, g.Name, printable(g.Detail))
	}
}
