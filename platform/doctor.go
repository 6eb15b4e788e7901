package platform

import (
	"os"
	"path/filepath"
)

// State is how one row of a Report stands.
type State string

// The states. Warning is for what works less well than it could.
const (
	OK      State = "ok"
	Warning State = "warning"
	Missing State = "missing"
)

// Finding is one thing that was looked at on this machine.
type Finding struct {
	Name   string `json:"name"`
	State  State  `json:"state"`
	Detail string `json:"detail"`
	Remedy string `json:"remedy,omitempty"`
}

// Report is what this machine can enforce.
type Report struct {
	Backend    Backend     `json:"backend"`    // the one that Auto would choose; empty if none works
	Guarantees []Guarantee `json:"guarantees"` // of a run with a plain policy
	Findings   []Finding   `json:"findings"`
}

// Usable reports whether any backend works.
func (r Report) Usable() bool { return r.Backend != "" }

// Surroundings is what a Report takes from its caller.
type Surroundings struct {
	Path string // the caller's PATH
	Cwd  string
	Self string // this program's own file, to tell it from others of its name
}

func (r *Report) add(f Finding) { r.Findings = append(r.Findings, f) }

// addNamesakes warns of other programs called sbx: Docker Sandboxes installs
// one, and whichever comes first on PATH decides how a command is isolated.
func (r *Report) addNamesakes(s Surroundings) {
	self, err := os.Stat(s.Self)
	if err != nil {
		return
	}
	for _, dir := range filepath.SplitList(s.Path) {
		p := filepath.Join(dir, "sbx")
		other, err := os.Stat(p)
		if err != nil || other.IsDir() || other.Mode()&0o111 == 0 || os.SameFile(self, other) {
			continue
		}
		r.add(Finding{Name: "another sbx", State: Warning, Detail: p + " is a different program of the same name (Docker Sandboxes ships one)",
			Remedy: "call this one by its full path: " + s.Self})
	}
}
