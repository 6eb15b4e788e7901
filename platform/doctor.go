package platform

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
