package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases.
var version = ""

// identity tells this sbx from other programs of the name, in the one line
// that "sbx version" prints.
const identity = "kernel-enforced command sandbox, github.com/sbx-run/sbx"

type versionInfo struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Identity string `json:"identity"`
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readVersion() versionInfo {
	v := versionInfo{
		Name: "sbx", Version: version, Identity: identity,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Commit = s.Value
		}
	}
	return v
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which sbx this is",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if a.json {
				a.ui.object(v)
				return nil
			}
			fmt.Fprintf(a.ui.out, "sbx %s (%s; %s, %s)\n", v.Version, v.Identity, v.Go, v.Platform)
			return nil
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print one JSON object on stdout")
}
