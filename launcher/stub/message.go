package stub

import "fmt"

// Stage names the step at which a Failure happened.
type Stage string

// The stages, in order.
const (
	StageVerify     Stage = "verify"
	StageChdir      Stage = "chdir"
	StageLimits     Stage = "limits"
	StagePrivileges Stage = "privileges"
	StageLandlock   Stage = "landlock"
	StageSeccomp    Stage = "seccomp"
	StageLookup     Stage = "lookup"
	StageExec       Stage = "exec"
)

// Failure is why the command does not run.
type Failure struct {
	Stage Stage
	Path  string // file or mount concerned
	Errno int    // 0 if no system call failed
	Text  string
}

func (f *Failure) Error() string {
	if f.Path != "" {
		return fmt.Sprintf("%s: %s: %s", f.Stage, f.Path, f.Text)
	}
	return fmt.Sprintf("%s: %s", f.Stage, f.Text)
}

// Kind tells the records from the stub apart.
type Kind uint8

// The records, in the order in which they come.
const (
	Hello  Kind = iota + 1 // the stub runs and waits for its orders
	Ready                  // everything stands; execve is next
	Failed                 // instead, or after Ready if execve itself failed
)

// Message is one record from the stub. Failure counts with Failed.
type Message struct {
	Kind    Kind
	Failure Failure
}

func (m *Message) code(c *coder) {
	integer(c, &m.Kind)
	if m.Kind != Failed {
		return
	}
	stage := string(m.Failure.Stage)
	c.text(&stage)
	m.Failure.Stage = Stage(stage)
	c.text(&m.Failure.Path)
	integer(c, &m.Failure.Errno)
	c.text(&m.Failure.Text)
}
