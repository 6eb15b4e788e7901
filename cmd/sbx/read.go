package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/sbx-run/sbx/policy/files"
)

// fileText is what "read --json" prints.
type fileText struct {
	Path      string `json:"path"`
	Content   string `json:"content"`
	Truncated bool   `json:"truncated"`
	Size      int64  `json:"size"` // bytes of the whole file
}

// sandboxPathHelp is said by every verb that takes sandbox paths.
const sandboxPathHelp = `PATH is a sandbox path: "docs/intro.md" or "docs:intro.md" is intro.md in the
mount docs; with a single root, "/src/main.go" counts from it.`

func (a *app) readCommand() *cobra.Command {
	var f policyFlags
	var maxChars int
	cmd := &cobra.Command{
		Use:   "read [flags] PATH",
		Short: "Read a text file as the policy allows",
		Long:  "Read a text file as the policy allows, its suffix and size rules included.\n" + sandboxPathHelp,
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.load(&f)
			if err != nil {
				return err
			}
			text, err := files.New(l.sandbox).Read(args[0], maxChars)
			if err != nil {
				return err
			}
			if a.json {
				a.ui.object(fileText{args[0], text.Content, text.Truncated, text.Size})
				return nil
			}
			if text.Truncated {
				a.ui.note("%s has more than %d characters; --max-chars reads more", args[0], maxChars)
			}
			_, err = io.WriteString(a.ui.out, text.Content)
			return err
		},
	}
	f.register(cmd)
	cmd.Flags().IntVar(&maxChars, "max-chars", files.DefaultMaxChars, "stop after this many characters")
	a.jsonFlag(cmd)
	return cmd
}
