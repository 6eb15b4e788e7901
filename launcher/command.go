package launcher

import (
	"os"
	"time"
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

	// Reap makes this process the heir of what the command leaves behind and
	// kills it at the end, where the backend has no process namespace that does
	// it. Only for programs without children of their own: all are killed.
	Reap bool

	// Signals are forwarded to the command as they arrive; nil for none.
	Signals <-chan os.Signal

	Timeout time.Duration // then SIGTERM, Grace, SIGKILL to all; 0 for none
	Grace   time.Duration // between SIGTERM and SIGKILL; 0 is DefaultGrace
}

// DefaultGrace is how long a command has to end after SIGTERM.
const DefaultGrace = time.Second

// Result is how a command ended.
type Result struct {
	ExitCode int           // the command's status; 128+n after signal n
	TimedOut bool          // it was ended by Timeout
	Duration time.Duration // from the start of the backend to the end
}
