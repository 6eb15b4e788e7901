package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/sbx-run/sbx/policy/files"
)

func (a *app) listCommand() *cobra.Command {
	var f policyFlags
	var pattern string
	cmd := &cobra.Command{
		Use:   "list [flags] [PATH]",
		Short: "List what the policy shows below a directory",
		Long:  "List what the policy shows below a directory, sorted. Without PATH: everything,\nby mount.\n" + sandboxPathHelp,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.load(&f)
			if err != nil {
				return err
			}
			names, err := files.New(l.sandbox).List(append(args, ".")[0], pattern)
			if err != nil {
				return err
			}
			if a.json {
				a.ui.object(map[string]any{"path": append(args, ".")[0], "files": orEmpty(names)})
				return nil
			}
			for _, name := range names {
				if _, err := io.WriteString(a.ui.out, printable(name)+"\n"); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&pattern, "pattern", files.DefaultPattern, "list only what matches this `GLOB`")
	a.jsonFlag(cmd)
	return cmd
}
