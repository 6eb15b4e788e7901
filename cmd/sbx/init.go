package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/sbx-run/sbx/policy/config"
)

// policyFile is the name that discovery looks for first.
const policyFile = "sbx.yaml"

func (a *app) initCommand() *cobra.Command {
	var toStdout bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a starter " + policyFile + " for the current directory",
		Long: `Write a starter ` + policyFile + ` for the current directory: it grants the directory
itself and the presets for the tool chains found in it. An existing file is
left alone.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cwd, err := workingDirectory()
			if err != nil {
				return err
			}
			text := config.Starter(cwd)
			if toStdout {
				_, err := io.WriteString(a.ui.out, text)
				return err
			}
			if err := writeNew(policyFile, text); err != nil {
				return err
			}
			a.ui.note("wrote %s", policyFile)
			a.ui.hint("sbx policy show draws what it grants")
			return nil
		},
	}
	cmd.Flags().BoolVar(&toStdout, "stdout", false, "print it instead")
	return cmd
}

// writeNew creates a file and never touches one that exists.
func writeNew(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; sbx init --stdout prints a new one", name)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
