package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

// approvals are the user's decisions about files, in the state directory.
func approvals(home string) config.Approvals {
	dir := stateDirectory(home)
	if dir == "" {
		return config.Approvals{}
	}
	return config.Approvals{Dir: filepath.Join(dir, "trust")}
}

// withApprovals lets the policy ask what the user has approved.
func withApprovals(host config.Host) config.Host {
	store := approvals(host.Places.Home)
	host.Trusted = store.Trusted
	host.Approved = func(path string) ([]byte, bool) {
		record, ok, err := store.Get(path)
		return record.Content, ok && err == nil
	}
	return host
}

// insideError refuses a verb whose effect would be thrown away at the end of
// the sandbox that it runs in.
type insideError struct{ verb string }

func (e *insideError) Error() string {
	return e.verb + " has no effect inside a sandbox: what steers later runs lies outside"
}

// Hint says where to go.
func (e *insideError) Hint() string { return "run it outside" }

// outsideOnly refuses a verb inside a sandbox.
func outsideOnly(verb string) error {
	if os.Getenv("SBX") != "" {
		return &insideError{verb}
	}
	return nil
}

func (a *app) trustCommand() *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use:   "trust [flags] FILE...",
		Short: "Approve policy files that ask for more than their own directory",
		Long: `Approve policy files that ask for more than their own directory. A file that
is found, not named, may grant what lies beside it and nothing else; a run
with one that asks for more stops until its content is approved here. Nor
does it replace the policy that would be found without it, whose denies and
limits go on to count; approved, it counts alone. An approval is about the
content: after a change it is asked for again.

Without --revoke, prints what the files grant: everything the first time, what
is new after that.`,
		Example: `  sbx trust sbx.yaml
  sbx trust --revoke sbx.yaml
  sbx trust list`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			if err := outsideOnly("sbx trust"); err != nil {
				return err
			}
			host, err := surroundings()
			if err != nil {
				return err
			}
			if revoke {
				return a.revoke(files, host)
			}
			return a.trust(files, host)
		},
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take the approval back")
	cmd.AddCommand(a.trustList())
	return cmd
}

// trust approves files, all or none.
func (a *app) trust(files []string, host config.Host) error {
	store := approvals(host.Places.Home)
	type approval struct {
		source config.Source
		needs  []config.Need
		added  []string
		again  bool
		hides  []string
	}
	var approved []approval
	for _, file := range files {
		s, needs, err := config.Inspect(file, host)
		if err != nil {
			return err
		}
		before, again, err := store.Get(s.Path)
		if err != nil {
			return err
		}
		added, err := s.NewGrants(before.Content, host)
		if err != nil {
			return err
		}
		approved = append(approved, approval{s, needs, added, again, s.Hides(host)})
	}
	for _, x := range approved {
		if err := store.Add(x.source); err != nil {
			return err
		}
		a.printApproval(x.source.Name, x.needs, x.added, x.hides, x.again)
	}
	return nil
}

func (a *app) printApproval(file string, needs []config.Need, added, hides []string, again bool) {
	verb := "grants"
	if again {
		verb = "newly grants"
	}
	switch {
	case len(added) == 0 && again:
		fmt.Fprintf(a.ui.out, "trusted %s: grants nothing that it did not grant before\n", printable(file))
	default:
		fmt.Fprintf(a.ui.out, "trusted %s, which %s\n", printable(file), verb)
	}
	for _, line := range added {
		fmt.Fprintf(a.ui.out, "  + %s\n", printable(line))
	}
	for _, name := range hides {
		fmt.Fprintf(a.ui.out, "  counts alone: what %s denies and limits no longer holds with it\n", printable(name))
	}
	if len(needs)+len(hides) == 0 {
		a.ui.note("%s asks for nothing that needs trust", file)
	}
}

func (a *app) revoke(files []string, host config.Host) error {
	store := approvals(host.Places.Home)
	for _, file := range files {
		p, err := canonicalFile(file, host.Places.Cwd)
		if err != nil {
			return err
		}
		was, err := store.Revoke(p)
		if err != nil {
			return err
		}
		if !was {
			a.ui.warn("%s was not trusted", file)
			a.code = exitNo
			continue
		}
		fmt.Fprintf(a.ui.out, "no longer trusted: %s\n", printable(file))
	}
	return nil
}

// canonicalFile names a file that need not exist any more.
func canonicalFile(file, cwd string) (string, error) {
	p := file
	if !filepath.IsAbs(p) {
		p = filepath.Join(cwd, p)
	}
	r, err := policy.Resolve(p)
	return r.Path, err
}

// trustedFile is one row of "trust list --json".
type trustedFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	State  string `json:"state"` // trusted, changed or gone
}

func (a *app) trustList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the approved files, and which of them have changed since",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			host, err := surroundings()
			if err != nil {
				return err
			}
			all, err := approvals(host.Places.Home).List()
			if err != nil {
				return err
			}
			rows := []trustedFile{}
			for _, x := range all {
				rows = append(rows, trustedFile{x.Path, x.SHA256, stateOf(x)})
			}
			if a.json {
				a.ui.object(rows)
				return nil
			}
			for _, r := range rows {
				fmt.Fprintf(a.ui.out, "%-7s  %s  %s\n", r.State, r.SHA256[:12], printable(r.Path))
			}
			if len(rows) == 0 {
				a.ui.note("no file is trusted")
			}
			return nil
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// stateOf compares an approval with the file as it is now.
func stateOf(x config.Approval) string {
	data, err := os.ReadFile(x.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "gone"
	case err != nil || string(data) != string(x.Content):
		return "changed"
	}
	return "trusted"
}
