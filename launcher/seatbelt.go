package launcher

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt"
)

// What a run on macOS decides without touching the system is here, so that it
// is tested on any.

// newTag marks the refusals of one run in the system's log. The log is
// readable by others, so it tells nothing.
func newTag() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return "sbx-" + hex.EncodeToString(b)
}

// mostText is the largest profile that is handed over as an argument: well
// below the megabyte that arguments and environment share.
const mostText = 128 << 10

// handOver puts a profile where sandbox-exec reads it, and returns the file.
// Where the policy lets commands write to dir, another run could change it
// before it is read; it then becomes an argument, and file is "".
func handOver(p seatbelt.Profile, e policy.Effective, dir string) (file string, err error) {
	if e.CanWrite(dir) && len(p.Text) <= mostText {
		return "", nil
	}
	if e.CanWrite(dir) {
		return "", &SetupError{Step: "profile", Path: dir, Reason: "the policy lets commands write here, and the profile is too large for an argument", Advice: "grant less than the directory for temporary files"}
	}
	file = filepath.Join(dir, "profile.sb")
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", &SetupError{Step: "profile", Path: file, Reason: err.Error()}
	}
	_, err = f.WriteString(p.Text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", &SetupError{Step: "profile", Path: file, Reason: err.Error()}
	}
	return file, nil
}

// unkept names the limits that nothing keeps on macOS. The time-out is kept.
func unkept(l policy.Limits) []string {
	var gaps []string
	for name, set := range map[string]bool{
		"memory": l.Memory > 0, "processes": l.Processes > 0, "open_files": l.OpenFiles > 0,
		"file_size": l.FileSize > 0, "tmp": l.Tmp > 0, "cpu": l.CPU > 0,
	} {
		if set {
			gaps = append(gaps, "limit "+name+" is not kept on macOS; limits.timeout is")
		}
	}
	slices.Sort(gaps)
	return gaps
}

// ownFailure reads the exit code of a sandbox-exec that never became the
// command. trial is what a trial run under the same profile gave then: nil
// says that the sandbox stands, so the command is at fault.
func ownFailure(code int, name string, trial error) error {
	if trial != nil {
		reason, advice := trial.Error(), ""
		if h, ok := trial.(interface{ Hint() string }); ok {
			advice = h.Hint()
		}
		return &SetupError{Step: "sandbox-exec", Reason: reason, Advice: advice}
	}
	if code == exitCannotExecute {
		return &CommandError{Name: name, Reason: "macOS does not start it in a sandbox; what sandbox-exec said is above"}
	}
	return &SetupError{Step: "sandbox-exec", Reason: "it refused the profile; what it said is above"}
}

// exitCannotExecute is how sandbox-exec reports that execvp(3) failed.
const exitCannotExecute = 71

// relative is a process and its parent.
type relative struct{ pid, parent int }

// descendants returns all that stem from root, without it.
func descendants(root int, all []relative) []int {
	var found []int
	for next := []int{root}; len(next) > 0; {
		parent := next[0]
		next = next[1:]
		for _, r := range all {
			if r.parent == parent && r.pid != root && !slices.Contains(found, r.pid) {
				found, next = append(found, r.pid), append(next, r.pid)
			}
		}
	}
	return found
}

// pathOf returns the directories of PATH in a NAME=VALUE list.
func pathOf(env []string) []string {
	for _, v := range env {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			return filepath.SplitList(list)
		}
	}
	return nil
}
