package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sbx-run/sbx/policy/files"
)

func (a *app) writeCommand() *cobra.Command {
	var f policyFlags
	var content string
	cmd := &cobra.Command{
		Use:   "write [flags] PATH",
		Short: "Replace a file as the policy allows, with standard input",
		Long:  "Replace a file as the policy allows: as a whole or not at all. The content is\nstandard input, or --content.\n" + sandboxPathHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := a.load(&f)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("content") {
				var b strings.Builder
				if _, err := io.Copy(&b, cmd.InOrStdin()); err != nil {
					return err
				}
				content = b.String()
			}
			if err := files.New(l.sandbox).Write(args[0], content); err != nil {
				return err
			}
			if a.json {
				a.ui.object(map[string]any{"path": args[0], "bytes": len(content)})
			}
			return nil
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&content, "content", "", "write this `TEXT` instead of standard input")
	a.jsonFlag(cmd)
	return cmd
}
