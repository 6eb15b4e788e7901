package platform

import (
	"path"
	"strings"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt"
)

// lateMatches are the deny patterns that do not cover what is made during the
// run. A Seatbelt profile holds most of them as expressions.
func lateMatches(plan Plan) []policy.Deny {
	if plan.Backend == Seatbelt {
		return plan.Partial
	}
	return plan.Effective.Patterns()
}

// seatbeltLosses is what macOS has no means for.
func seatbeltLosses(lost map[string]string, plan Plan) {
	if detail := exposureDetail(plan); detail != "" {
		lost[GuaranteeProtected] = detail
	}
	lost[GuaranteeNames] = "names directly below / can be listed, and an error can tell whether a name exists; contents and attributes stay closed"
	lost[GuaranteePrivate] = "HOME and TMPDIR point to a directory of the run, without a size limit; /tmp itself is closed"
	lost[GuaranteeIPC] = "semaphores that other programs of the user have made can be used"
	lost[GuaranteeKill] = "background processes survive a run on a terminal, elsewhere those that start a session of their own, and all if sbx itself is killed with SIGKILL"
	lost[GuaranteeSyscalls] = "macOS lets no program filter the system calls of another"
}

// trialDirs stand for the private directories of a run in a trial: they need
// not exist.
var trialDirs = []string{"/private/var/empty/sbx-trial/home", "/private/var/empty/sbx-trial/tmp"}

// trialProgram does nothing but end with 0.
const trialProgram = "/usr/bin/true"

// verdictOn says whether a profile holds, by what a trial run of trialProgram
// did. shown tells whether the profile shows that program at all; if not, that
// it could not be executed proves no fault.
func verdictOn(code int, stderr string, shown bool) error {
	e := &policy.BackendUnavailableError{Backend: string(Seatbelt)}
	switch outcome := seatbelt.Judge(code, stderr); {
	case outcome == seatbelt.Started:
		return nil
	case !shown && (outcome == seatbelt.CannotExecute || outcome == seatbelt.BaseTooNarrow):
		return nil
	case outcome == seatbelt.AlreadySandboxed:
		e.Reason = "sbx itself runs inside a sandbox already, and macOS applies no second one"
		e.Remedy = "start sbx outside; the sandbox around it, such as that of an app or a package manager, may have a setting for it"
	case outcome == seatbelt.BadProfile:
		e.Reason = "this macOS refuses the profile: " + seatbelt.Words(stderr)
		e.Remedy = "sbx policy render --backend seatbelt shows it; it needs macOS 10.15 or later"
	case outcome == seatbelt.BaseTooNarrow:
		e.Reason = "programs abort at their start: this macOS needs a system file that the profile does not show"
		e.Remedy = "--system host shows more of the system; please report the version that sbx doctor prints"
	case outcome == seatbelt.CannotExecute:
		e.Reason = "the profile does not let " + trialProgram + " run: " + seatbelt.Words(stderr)
	default:
		e.Reason = "a trial run failed: " + seatbelt.Words(stderr)
	}
	return e
}

// developerContents returns what of a developer directory programs need: the
// enclosing Contents of an Xcode, nothing of the command line tools, which are
// part of the base. dir is resolved; it is "" where none is chosen.
func developerContents(dir string) string {
	switch {
	case dir == "" || policy.Contains("/Library/Developer/CommandLineTools", dir):
		return ""
	case strings.HasSuffix(dir, "/Contents/Developer"):
		return path.Dir(dir)
	}
	return dir
}
