package seatbelt

import "github.com/sbx-run/sbx/policy"

// Executable is the program that applies a profile and starts a command under
// it. It is named by its absolute path so that nothing on PATH replaces it.
const Executable = "/usr/bin/sandbox-exec"

// Param is a value that a profile refers to by name, given to sandbox-exec
// with -D. Only paths that change with each run are parameters.
type Param struct{ Name, Value string }

// Profile is a policy in SBPL. It is immutable.
type Profile struct {
	// Text is the profile. It belongs into a file of mode 0600 outside every
	// writable root, removed after the start.
	Text string

	// Params are the values that Text refers to, in order.
	Params []Param

	// Partial are deny patterns that the profile closes only where a match
	// existed when the policy was expanded; a report has to say so.
	Partial []policy.Deny
}

// Argv returns the command line that runs command under the profile. file
// holds Text; if it is empty the text itself becomes an argument, which suits
// display and profiles well below the system's limit for arguments (1 MiB).
func (p Profile) Argv(file string, command ...string) []string {
	argv := []string{Executable}
	if file != "" {
		argv = append(argv, "-f", file)
	} else {
		argv = append(argv, "-p", p.Text)
	}
	for _, q := range p.Params {
		argv = append(argv, "-D", q.Name+"="+q.Value)
	}
	return append(append(argv, "--"), command...)
}
