package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

func (a *app) workspaceCommand() *cobra.Command {
	var f policyFlags
	cmd := &cobra.Command{
		Use:   "workspace",
		Short: "Show the workspace, or change it for one session",
		Long: `Show the workspace, or change it for one session. The workspace is the policy
of ~/.config/sbx/config.yaml: ordered rules, of which the first match wins,
and the root is the first. SBX_WORKSPACE replaces the root and makes it
writable. Changes are the session's and never reach the file.`,
		Example: `  export SBX_SESSION=$(sbx session start)
  sbx workspace rw
  sbx workspace allow ~/projects rw
  sbx workspace status`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.workspaceStatus(&f) },
	}
	f.registerSession(cmd.PersistentFlags())
	cmd.PersistentFlags().BoolVar(&a.json, "json", false, "print the result as JSON")
	status := &cobra.Command{
		Use: "status", Short: "Print the rules in force, in order", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.workspaceStatus(&f) },
	}
	cmd.AddCommand(status,
		a.workspaceChange(&f, "rw", "Make the workspace root writable", func(o *config.Overrides) { o.Mode = "rw" }),
		a.workspaceChange(&f, "ro", "Make the workspace root read-only", func(o *config.Overrides) { o.Mode = "ro" }),
		a.workspaceChange(&f, "disable", "Run commands unconfined", func(o *config.Overrides) { o.Enabled = new(bool) }),
		a.workspaceChange(&f, "enable", "Enforce the workspace again", func(o *config.Overrides) { yes := true; o.Enabled = &yes }),
		a.workspaceAllow(&f),
	)
	return cmd
}

// workspaceChange is a verb without arguments.
func (a *app) workspaceChange(f *policyFlags, name, short string, change func(*config.Overrides)) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short + ", for this session", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.changeSession(f, change) },
	}
}

func (a *app) workspaceAllow(f *policyFlags) *cobra.Command {
	return &cobra.Command{
		Use: "allow PATH [ro|rw]", Short: "Add a rule after the others, for this session; ro unless it says rw",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			mode := policy.ReadOnly
			if len(args) > 1 {
				var err error
				if mode, err = config.ParseMode(args[1]); err != nil {
					return &usageError{err: err, verb: "sbx workspace allow"}
				}
			}
			p, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if _, err := os.Stat(p); err != nil {
				return &usageError{err: fmt.Errorf("%s: %s", args[0], cause(err)), verb: "sbx workspace allow"}
			}
			return a.changeSession(f, func(o *config.Overrides) {
				o.Allow = append(o.Allow, config.OverrideAllow{Path: p, Mode: mode.String()})
			})
		},
	}
}

// cause drops what a message says in its own words.
func cause(err error) string {
	text := err.Error()
	return strings.TrimSpace(text[strings.LastIndex(text, ":")+1:])
}

// changeSession applies one change and prints what is then in force.
func (a *app) changeSession(f *policyFlags, change func(*config.Overrides)) error {
	if err := outsideOnly("sbx workspace"); err != nil {
		return err
	}
	o, err := f.currentSession()
	if err != nil {
		return err
	}
	if o == nil {
		return &noSessionError{}
	}
	change(o)
	if err := writeSession(*o); err != nil {
		return err
	}
	return a.workspaceStatus(f)
}

// workspaceShown is what "workspace status --json" prints.
type workspaceShown struct {
	Session string               `json:"session"`
	Root    string               `json:"root"`
	Enabled bool                 `json:"enabled"`
	Rules   []workspaceRuleShown `json:"rules"`
}

type workspaceRuleShown struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	Rule string `json:"rule"`
	Idle string `json:"idle,omitempty"` // why it matches nothing
}

func (a *app) workspaceStatus(f *policyFlags) error {
	host, err := surroundings()
	if err != nil {
		return err
	}
	if host.Session, err = f.currentSession(); err != nil {
		return err
	}
	w, err := config.WorkspaceOf(host)
	if err != nil {
		return err
	}
	s := workspaceShown{Root: w.Root, Enabled: w.Enabled, Rules: []workspaceRuleShown{}}
	if host.Session != nil {
		s.Session = host.Session.ID
	}
	for _, r := range w.Rules {
		s.Rules = append(s.Rules, workspaceRuleShown{r.Path, r.Mode.String(), r.Rule.String(), r.Idle})
	}
	if a.json {
		a.ui.object(s)
		return nil
	}
	a.drawWorkspace(s)
	return nil
}

func (a *app) drawWorkspace(s workspaceShown) {
	state := a.ui.paint(green, "enforced")
	if !s.Enabled {
		state = a.ui.paint(red, "DISABLED: commands run unconfined")
	}
	fmt.Fprintf(a.ui.out, "workspace %s, %s\n", printable(s.Root), state)
	if s.Session != "" {
		fmt.Fprintf(a.ui.out, "session %s\n", s.Session)
	}
	width := 0
	for _, r := range s.Rules {
		width = max(width, len([]rune(printable(r.Path))))
	}
	for i, r := range s.Rules {
		path := printable(r.Path)
		fmt.Fprintf(a.ui.out, "%3d  %s  %s%s  %s", i+1, r.Mode, path, strings.Repeat(" ", width-len([]rune(path))), printable(r.Rule))
		if r.Idle != "" {
			fmt.Fprintf(a.ui.out, "  (matches nothing: %s)", printable(r.Idle))
		}
		fmt.Fprintln(a.ui.out)
	}
}

// unconfined reports whether the user has disabled the workspace that counts.
func (l loaded) unconfined() bool { return l.Workspace != nil && !l.Workspace.Enabled }

// choose picks the backend. A disabled workspace has none, and every run says
// so.
func (a *app) choose(l loaded, r platform.Request) (platform.Plan, error) {
	if !l.unconfined() {
		return platform.Choose(l.effective, r)
	}
	if len(r.Require) > 0 || r.Backend != platform.Auto && r.Backend != platform.None {
		return platform.Plan{}, &policy.BackendUnavailableError{
			Backend: string(r.Backend), Needs: strings.Join(r.Require, ", "), Reason: "the workspace is disabled", Remedy: "sbx workspace enable",
		}
	}
	a.ui.warn("UNCONFINED: the workspace is disabled (%s); the command may read, change and reach all that you may", l.effective.Area.At("/").Rule)
	return platform.Plan{Backend: platform.None, Effective: l.effective}, nil
}

// startingPlace is where a command starts that can not start where its caller
// is: in the workspace, or in its private home.
func (a *app) startingPlace(e policy.Effective) string {
	if root := e.Places.Workspace; root != "" && e.CanRead(root) {
		return root
	}
	a.ui.note("hint: the command starts in its private home; --ro . would show it the current directory")
	return launcher.Home(e)
}
