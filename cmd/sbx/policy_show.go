package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/policy"
)

// shown is what "policy show --json" prints. The fields are part of the
// contract.
type shown struct {
	Version     int            `json:"version"`
	Sources     []string       `json:"sources"`
	Worker      string         `json:"worker"`
	Readable    []string       `json:"readable"`
	Writable    []string       `json:"writable"`
	Denied      []string       `json:"denied"`
	System      []string       `json:"system"`
	Network     shownNetwork   `json:"network"`
	Mounts      []shownMount   `json:"mounts"`
	Environment []string       `json:"environment"`
	Limits      map[string]any `json:"limits"`
	RequireOS   bool           `json:"require_os_sandbox"`
	Derivation  *derivation    `json:"derivation,omitempty"` // with a worker
	Outer       *shownBounds   `json:"outer,omitempty"`      // inside a sandbox: what confines it already
}

type shownNetwork struct {
	Mode  string   `json:"mode"`
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`
}

type shownMount struct {
	Name          string   `json:"name"`
	SandboxPath   string   `json:"sandbox_path"`
	Root          string   `json:"root"`
	Mode          string   `json:"mode"`
	Suffixes      []string `json:"suffixes"`
	MaxFileBytes  int64    `json:"max_file_bytes"`
	ReadApproval  bool     `json:"read_approval"`
	WriteApproval bool     `json:"write_approval"`
}

func (a *app) policyShow() *cobra.Command {
	var f policyFlags
	cmd := &cobra.Command{
		Use:   "show [flags]",
		Short: "Draw what a command would see, as a tree",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			l, err := a.load(&f)
			if err != nil {
				return err
			}
			e := l.effective
			if a.json {
				a.ui.object(show(l, e))
				return nil
			}
			if l.Worker != nil {
				a.drawDerivation(l.Loaded)
			}
			a.drawPolicy(e)
			if l.outer != nil {
				a.drawOuter(l.outer.Effective())
			}
			return nil
		},
	}
	f.register(cmd)
	a.jsonFlag(cmd)
	return cmd
}

func show(l loaded, e policy.Effective) shown {
	s := shown{
		Version: 1, Sources: orEmpty(e.Sources), Derivation: derivationOf(l.Loaded),
		Readable: orEmpty(e.Readable()), Writable: orEmpty(e.Writable()),
		Denied: written(e.Denies), System: systemPaths(e),
		Network: networkOf(e.Network),
		Mounts:  []shownMount{}, Environment: variableNames(e), Limits: shownLimits(e.Limits),
		RequireOS: e.RequireOS,
	}
	if l.Worker != nil {
		s.Worker = l.Worker.Name
	}
	if l.outer != nil {
		e := l.outer.Effective()
		b := bounds(e)
		b.Readable, b.Writable = orEmpty(e.MountRoots(policy.Read)), orEmpty(e.MountRoots(policy.Write))
		s.Outer = &b
	}
	for _, m := range e.Mounts {
		s.Mounts = append(s.Mounts, shownMount{
			Name: m.Name, SandboxPath: m.Name, Root: m.Root, Mode: m.Mode.String(), Suffixes: orEmpty(m.Suffixes),
			MaxFileBytes: m.MaxFileBytes, ReadApproval: m.ReadApproval, WriteApproval: m.WriteApproval,
		})
	}
	return s
}

func systemPaths(e policy.Effective) []string {
	paths := []string{}
	for _, entry := range e.Area.Entries() {
		if entry.Kind == policy.System {
			paths = append(paths, entry.Path)
		}
	}
	for _, l := range e.Links {
		paths = append(paths, l.Path)
	}
	slices.Sort(paths)
	return paths
}

func hostRules(rules []policy.HostRule) []string {
	texts := []string{}
	for _, h := range rules {
		texts = append(texts, h.String())
	}
	return texts
}

// variableNames lists what the command's environment would hold; values may
// be private.
func variableNames(e policy.Effective) []string {
	names := append([]string{outerVariable}, e.Env.Pass...)
	for _, v := range launcher.Environment(e, nil, "/") {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// shownLimits lists the limits that are set, under the names of the
// configuration: times as text, the rest as numbers.
func shownLimits(l policy.Limits) map[string]any {
	limits := map[string]any{}
	for name, d := range map[string]time.Duration{"timeout": l.Timeout, "cpu": l.CPU} {
		if d > 0 {
			limits[name] = d.String()
		}
	}
	for name, n := range map[string]int64{
		"memory": l.Memory, "processes": l.Processes, "open_files": l.OpenFiles,
		"file_size": l.FileSize, "output": l.Output, "tmp": l.Tmp,
	} {
		if n > 0 {
			limits[name] = n
		}
	}
	if l.Strict {
		limits["strict"] = true
	}
	return limits
}

// drawPolicy prints the view as a tree, and what no tree shows below it.
func (a *app) drawPolicy(e policy.Effective) {
	a.drawTree(e)
	fmt.Fprintf(a.ui.out, "\nnetwork      %s\n", a.networkLine(e))
	fmt.Fprintf(a.ui.out, "environment  %s\n", strings.Join(variableNames(e), " "))
	fmt.Fprintf(a.ui.out, "limits       %s\n", orNone(limitWords(e.Limits)))
	fmt.Fprintf(a.ui.out, "policy       %s\n", printable(orNone(e.Sources)))
}

func (a *app) networkLine(e policy.Effective) string {
	switch e.Network.Mode {
	case policy.NetworkOn:
		return a.ui.paint(yellow, "on") + " [" + e.Network.Rule.String() + "]"
	case policy.NetworkList:
		return "allow " + orNone(hostRules(e.Network.Allow)) + "; deny " + orNone(hostRules(e.Network.Deny))
	}
	return a.ui.paint(green, "off")
}

// kindColor makes what can be written stand out, and what is hidden recede.
func kindColor(entry policy.Entry) int {
	switch {
	case entry.Access.Has(policy.Write):
		return yellow
	case entry.Kind == policy.Hidden:
		return red
	case entry.Kind == policy.Private:
		return cyan
	case entry.Kind == policy.System:
		return dim
	}
	return green
}

func accessWord(entry policy.Entry) string {
	switch entry.Kind {
	case policy.Hidden, policy.Private:
		return entry.Kind.String()
	}
	return entry.Access.String()
}

func quoteName(name string) string {
	p := printable(name)
	if p != name || strings.ContainsAny(name, " \"'") {
		return strconv.Quote(name)
	}
	return name
}
