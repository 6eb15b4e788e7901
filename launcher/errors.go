package launcher

import (
	"fmt"
	"strings"
)

// CommandError reports that the command itself could not be started, although
// the sandbox stands.
type CommandError struct {
	Name     string // as given
	NotFound bool   // no such file in the sandbox's view; otherwise not executable
	Reason   string
	Advice   string // which grant would show it; may be empty
}

func (e *CommandError) Error() string {
	if e.NotFound {
		return fmt.Sprintf("%s: command not found in the sandbox", e.Name)
	}
	return fmt.Sprintf("%s: cannot be executed: %s", e.Name, e.Reason)
}

// Hint returns the advice.
func (e *CommandError) Hint() string { return e.Advice }

// SetupError reports that the sandbox could not be built. The command did not
// run.
type SetupError struct {
	Step   string // "open", "bwrap", "verify", "chdir", ...
	Path   string // place concerned; may be empty
	Reason string
	Advice string
}

func (e *SetupError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("cannot build the sandbox: %s: %s", e.Step, e.Reason)
	}
	return fmt.Sprintf("cannot build the sandbox: %s %s: %s", e.Step, e.Path, e.Reason)
}

// Hint returns the advice.
func (e *SetupError) Hint() string { return e.Advice }

// LimitError reports limits that the kernel would not keep on this machine,
// where the policy says that they are strict. Nothing has been started.
type LimitError struct {
	Gaps []string // one clause for each limit
}

func (e *LimitError) Error() string {
	return "cannot keep every limit here, and limits.strict demands it: " + strings.Join(e.Gaps, "; ")
}

// Hint returns the advice.
func (e *LimitError) Hint() string {
	return "limits.strict: false accepts that; run --json says what it means"
}
