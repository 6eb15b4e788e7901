package seatbelt

import (
	"fmt"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// PathError reports a path that must not stand in a profile: quoting could
// make it text, but not one that every reader understands alike.
type PathError struct {
	Path   string
	Rule   policy.Rule // where the path comes from
	Reason string
}

func (e *PathError) Error() string {
	return fmt.Sprintf("path %q cannot be used with seatbelt: %s%s", e.Path, e.Reason, from(e.Rule))
}

// Unwrap gives the error of the kind that every backend reports.
func (e *PathError) Unwrap() error {
	return &policy.BackendUnavailableError{Backend: "seatbelt", Needs: fmt.Sprintf("path %q", e.Path), Reason: e.Reason}
}

// UnsupportedError reports a policy that Seatbelt cannot express. It wraps the
// policy.BackendUnavailableError of the same facts.
type UnsupportedError struct {
	Needs string // what cannot be had: "network rule example.org:443"
	Rule  policy.Rule
	Fix   string // what would make it expressible
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("seatbelt cannot express %s%s", e.Needs, from(e.Rule))
}

// Hint says what to change.
func (e *UnsupportedError) Hint() string { return e.Fix }

// Unwrap gives the error of the kind that every backend reports.
func (e *UnsupportedError) Unwrap() error {
	return &policy.BackendUnavailableError{
		Backend: "seatbelt",
		Needs:   e.Needs,
		Reason:  strings.TrimPrefix(strings.TrimSuffix(from(e.Rule), ")"), " ("),
		Remedy:  e.Fix,
	}
}

// TooLargeError reports a policy whose profile would exceed what the system's
// compiler is known to accept.
type TooLargeError struct {
	What  string // "patterns", "one pattern"
	Bytes int
	Limit int
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the policy is too large for seatbelt: %s of %d bytes, at most %d", e.What, e.Bytes, e.Limit)
}

// Hint says what to change.
func (e *TooLargeError) Hint() string {
	return "name directories instead of the many paths in them"
}

// Unwrap gives the error of the kind that every backend reports.
func (e *TooLargeError) Unwrap() error {
	return &policy.BackendUnavailableError{
		Backend: "seatbelt",
		Needs:   fmt.Sprintf("%s of %d bytes", e.What, e.Bytes),
		Reason:  fmt.Sprintf("at most %d", e.Limit),
		Remedy:  e.Hint(),
	}
}

// RunError reports a value of a Run that no profile can hold. It is a mistake
// of the caller, not of the policy.
type RunError struct {
	Field  string
	Value  string
	Reason string
}

func (e *RunError) Error() string {
	return fmt.Sprintf("seatbelt run: %s %q: %s", e.Field, e.Value, e.Reason)
}

func from(r policy.Rule) string {
	switch {
	case r == policy.Rule{}:
		return ""
	case r.File == "":
		return " (" + r.Text + ")"
	case r.Text == "":
		return " (" + r.String() + ")"
	}
	return " (" + r.String() + ": " + r.Text + ")"
}
