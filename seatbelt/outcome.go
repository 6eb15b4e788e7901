package seatbelt

import "strings"

// Outcome is what became of a start with sandbox-exec.
type Outcome uint8

// The outcomes. sandbox-exec has exit codes of sysexits.h for failures of its
// own, which a command may use as well: whoever asks has to know that the
// command itself did not run. BaseTooNarrow is an abort of the dynamic loader,
// which ends the program before its first instruction.
const (
	Started          Outcome = iota // it became the command
	BadProfile                      // the compiler refused the profile (EX_DATAERR)
	AlreadySandboxed                // this process is in a sandbox, and the system applies no second one
	CannotExecute                   // the sandbox stands, and the command cannot be executed in it
	BaseTooNarrow                   // the program needs a system file that the profile does not show
	Failed                          // something else; the words of sandbox-exec say what
)

const (
	exitData  = 65  // EX_DATAERR
	exitOS    = 71  // EX_OSERR: sandbox_apply or execvp failed
	exitAbort = 134 // 128 + SIGABRT, as shells report it
)

// Judge reads the end of a sandbox-exec whose command is known to do nothing
// but succeed, such as /usr/bin/true. code is the exit code, 128+n after signal
// n; stderr is what it wrote.
func Judge(code int, stderr string) Outcome {
	switch {
	case code == 0:
		return Started
	case code == exitAbort:
		return BaseTooNarrow
	case code == exitData:
		return BadProfile
	case code == exitOS && strings.Contains(stderr, "sandbox_apply"):
		return AlreadySandboxed
	case code == exitOS && strings.Contains(stderr, "execvp"):
		return CannotExecute
	}
	return Failed
}

// OwnExit reports whether code is one by which sandbox-exec reports a failure
// of its own.
func OwnExit(code int) bool { return code == exitData || code == exitOS }

// Words returns what sandbox-exec gave as its reason, on one line, without its
// name in front.
func Words(stderr string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	return strings.TrimPrefix(line, "sandbox-exec: ")
}
