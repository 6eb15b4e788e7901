package policy

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The errors of a decision speak to whoever asked for the access, often a
// language model: what was asked, where the boundary is, what to do. They
// list the boundary as the user wrote it and never a path of the host that
// the sandbox hides.

// PathNotInSandboxError reports a path that the sandbox does not show.
type PathNotInSandboxError struct {
	Op       Access // Read, Write, or None where the operation is not known
	Path     string // as asked
	Boundary []string
	Inside   string // where Path was taken for one of the host: the same place of the sandbox
}

// Hint says how to name the place inside, where there is one.
func (e *PathNotInSandboxError) Hint() string {
	if e.Inside == "" {
		return ""
	}
	return "that is taken for a path of the host; without the slash it is one of the sandbox: " + Printable(e.Inside)
}

func (e *PathNotInSandboxError) Error() string {
	return fmt.Sprintf("Cannot %s '%s': path is outside sandbox.\n%s paths: %s",
		verb(e.Op), Printable(e.Path), adjective(e.Op), list(e.Boundary))
}

// InvalidPathError reports what is no path at all, or one that cannot be
// followed to its end.
type InvalidPathError struct {
	Op      Access
	Path    string // as asked
	Problem string // a clause
}

func (e *InvalidPathError) Error() string {
	return fmt.Sprintf("Cannot %s '%s': %s.", verb(e.Op), Printable(e.Path), e.Problem)
}

// PathNotWritableError reports a write to a place that is read-only.
type PathNotWritableError struct {
	Path     string
	Writable []string
}

func (e *PathNotWritableError) Error() string {
	return fmt.Sprintf("Cannot write to '%s': path is read-only.\nWritable paths: %s", Printable(e.Path), list(e.Writable))
}

// SuffixNotAllowedError reports a name that the mount's suffix list excludes.
type SuffixNotAllowedError struct {
	Path    string
	Allowed []string
}

func (e *SuffixNotAllowedError) Error() string {
	return fmt.Sprintf("Cannot access '%s': suffix not allowed.\nAllowed suffixes: %s", Printable(e.Path), list(e.Allowed))
}

// FileTooLargeError reports a file above the mount's max_file_bytes.
type FileTooLargeError struct {
	Path        string
	Size, Limit int64 // bytes
}

func (e *FileTooLargeError) Error() string {
	return fmt.Sprintf("Cannot read '%s': file too large (%d bytes).\nMaximum allowed: %d bytes", Printable(e.Path), e.Size, e.Limit)
}

// PermissionEscalationError reports a derivation that asked for more than its
// parent has.
type PermissionEscalationError struct {
	Asked        string   // "readonly=False", "allow_write entry '/docs'"
	Boundary     string   // the parent's limit, as a clause: "parent sandbox is readonly"
	Alternatives []string // what would be valid
}

func (e *PermissionEscalationError) Error() string {
	msg := fmt.Sprintf("Cannot create child sandbox with %s: %s. Child sandboxes may only restrict access.", e.Asked, e.Boundary)
	if len(e.Alternatives) > 0 {
		msg += "\nValid alternatives: " + strings.Join(e.Alternatives, "; ")
	}
	return msg
}

// NetworkDeniedError reports a host that the policy does not let a command
// reach.
type NetworkDeniedError struct {
	Host    string // as asked, with port; empty for the network as a whole
	Mode    NetworkMode
	Allowed []string // the allow-list as written
}

func (e *NetworkDeniedError) Error() string {
	to := ""
	if e.Host != "" {
		to = " to '" + Printable(e.Host) + "'"
	}
	if e.Mode == NetworkOff {
		return fmt.Sprintf("Cannot connect%s: network is outside sandbox.\nNetwork access is disabled for this sandbox", to)
	}
	return fmt.Sprintf("Cannot connect%s: host is not allowed.\nAllowed hosts: %s", to, list(e.Allowed))
}

// BackendUnavailableError reports that this machine cannot give what the
// policy needs. Nothing has been started.
type BackendUnavailableError struct {
	Backend string // "bwrap", "builtin", "seatbelt"; empty where none would do
	Needs   string // what cannot be had: "user namespaces", a guarantee's name
	Reason  string // what was observed on this machine
	Remedy  string // the command or setting that would change it
}

func (e *BackendUnavailableError) Error() string {
	msg := "no sandbox backend can run this policy here"
	if e.Backend != "" {
		msg = "backend " + e.Backend + " cannot run this policy here"
	}
	if e.Needs != "" {
		msg += ": " + e.Needs
	}
	if e.Reason != "" {
		msg += " (" + e.Reason + ")"
	}
	return msg
}

// Hint returns the remedy.
func (e *BackendUnavailableError) Hint() string { return e.Remedy }

// ConfigError reports one fault of a configuration, at its place where a file
// holds it. Line and Col are 1-based; 0 where they are not known.
type ConfigError struct {
	File      string
	Line, Col int
	Message   string
	Fix       string // what to write instead; may be empty
}

func (e *ConfigError) Error() string {
	switch {
	case e.File == "":
		return e.Message
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Message)
}

// Hint returns the fix.
func (e *ConfigError) Hint() string { return e.Fix }

func verb(op Access) string {
	switch op {
	case Read:
		return "read"
	case Write:
		return "write to"
	}
	return "access"
}

func adjective(op Access) string {
	if op == Write {
		return "Writable"
	}
	return "Readable"
}

func list(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	shown := make([]string, 0, min(len(items), maxListed)+1)
	for i, item := range items {
		if i == maxListed {
			shown = append(shown, fmt.Sprintf("and %d more", len(items)-i))
			break
		}
		shown = append(shown, Printable(item))
	}
	return strings.Join(shown, ", ")
}

// maxListed is how many roots a message lists: more than a policy has that
// somebody wrote, less than would drown the message.
const maxListed = 32

// Printable escapes what a terminal would act on or could not show: messages
// repeat what the asker wrote.
func Printable(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
