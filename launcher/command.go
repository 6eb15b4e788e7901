package launcher

import (
	"os"
	"syscall"
	"time"

	"github.com/sbx-run/sbx/policy"
)

// Command is what to run. The zero value of a field means its default.
type Command struct {
	Argv []string // program and arguments; the program is looked up in the sandbox's view
	Dir  string   // working directory, a path of the sandbox
	Env  []string // the complete environment, NAME=VALUE

	Stdin, Stdout, Stderr *os.File // nil is /dev/null

	// Interactive keeps the caller's session and terminal, so that job control
	// and Ctrl-C work. Otherwise the command gets a session of its own and can
	// not open /dev/tty.
	Interactive bool

	// Terminal, with Interactive, is a terminal of which the command gets a
	// process group of its own, in the foreground if the caller's is. Nil
	// leaves it in the caller's group: right in a pipeline or a script, whose
	// other processes share the terminal.
	Terminal *os.File

	// Reap makes this process the heir of what the command leaves behind and
	// kills it at the end, where the backend has no process namespace that does
	// it. Only for programs without children of their own: all are killed.
	Reap bool

	// State is sbx's state directory, where a strict run keeps records of its
	// placeholders. Empty is $XDG_STATE_HOME/sbx or .local/state/sbx in the
	// home.
	State string

	// Signals is asked once for the signals that are to be forwarded to the
	// command as they arrive; nil for none. That is after the start of a
	// backend that dies with this process and leaves nothing behind, and else
	// before anything is made: until then signals do here what they do.
	Signals func() <-chan os.Signal

	// Denials asks for what the kernel logs of refusals during the run. Only
	// macOS has such a log; starting its reader takes up to a second.
	Denials bool

	Timeout time.Duration // then SIGTERM, Grace, SIGKILL to all; 0 for none
	Grace   time.Duration // between SIGTERM and SIGKILL; 0 is DefaultGrace
}

// caught asks for the signals to forward.
func (c Command) caught() <-chan os.Signal {
	if c.Signals == nil {
		return nil
	}
	return c.Signals()
}

// DefaultGrace is how long a command has to end after SIGTERM.
const DefaultGrace = time.Second

// Result is how a command ended.
type Result struct {
	ExitCode int            // the command's status; 128+n after signal n; 124 after Timeout
	Signal   syscall.Signal // that ended the command; 0 if it exited. Exact since Linux 6.15; before, exit 143 reads as SIGTERM
	TimedOut bool           // it was ended by Timeout
	Overrun  Overrun        // the limit that the command ran into; the zero value is none
	Gaps     []string       // limits that the kernel does not keep here, and what does
	Denials  []Denial       // if asked for; best effort, so an empty list proves nothing
	Duration time.Duration  // from the start of the backend to the end

	// Made lists files made or changed during the run that some tool acts on
	// by itself.
	Made []policy.Trigger
}

// Overrun is a limit that a command ran into.
type Overrun struct {
	Limit   string // name and value as --limit takes them: "memory=64MiB"
	Stopped bool   // the run was ended for it; otherwise the command went on and failed by itself
}

// Any reports whether there was one.
func (o Overrun) Any() bool { return o.Limit != "" }

func (o Overrun) String() string {
	if o.Stopped {
		return "the command was ended by its limit " + o.Limit
	}
	return "the command ran into its limit " + o.Limit
}
