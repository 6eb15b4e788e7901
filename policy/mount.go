package policy

import (
	"slices"
	"strings"
)

// Mode is the access that a mount gives: read-only or read-write.
type Mode uint8

// The modes of a mount. The zero value is read-only.
const (
	ReadOnly Mode = iota
	ReadAndWrite
)

// Access returns the set that the mode stands for.
func (m Mode) Access() Access {
	if m == ReadAndWrite {
		return ReadWrite
	}
	return Read
}

// String gives the spelling of the configuration: ro or rw.
func (m Mode) String() string {
	if m == ReadAndWrite {
		return "rw"
	}
	return "ro"
}

// Mount is a named root on the host. Suffixes, MaxFileBytes and the approvals
// bind the built-in tools alone: no kernel enforces them, and every output
// that shows them says so.
type Mount struct {
	Name    string // sandbox name; empty for presets, which sandbox paths cannot name
	Root    string // canonical host path
	Written string // the root as the user wrote it, for messages
	Mode    Mode
	Type    FileType // of Root when it was resolved

	Suffixes      []string // each starts with a dot; matched at the end of the name, case-insensitive; nil allows all, an empty list nothing
	MaxFileBytes  int64    // largest file that the tools read; 0 is no limit
	ReadApproval  bool
	WriteApproval bool

	Rule Rule
}

// Entry returns what the mount means for an Area.
func (m Mount) Entry() Entry {
	return Entry{Path: m.Root, Access: m.Mode.Access(), Kind: Granted, Type: m.Type, Rule: m.Rule}
}

// AllowsSuffix reports whether the name of p ends in one of the mount's
// suffixes.
func (m Mount) AllowsSuffix(p string) bool {
	return m.Suffixes == nil || slices.ContainsFunc(m.Suffixes, func(suffix string) bool {
		return hasSuffixFold(p, suffix)
	})
}

// AllowsSize reports whether the tools may read a file of so many bytes.
func (m Mount) AllowsSize(bytes int64) bool { return m.MaxFileBytes == 0 || bytes <= m.MaxFileBytes }

// withRules returns m bound by the tools' rules of other too.
func (m Mount) withRules(other Mount) Mount {
	m.Suffixes = meetSuffixes(m.Suffixes, other.Suffixes)
	m.MaxFileBytes = tighter(m.MaxFileBytes, other.MaxFileBytes)
	m.ReadApproval = m.ReadApproval || other.ReadApproval
	m.WriteApproval = m.WriteApproval || other.WriteApproval
	return m
}

// meetSuffixes returns the list that allows what both allow: of two suffixes
// the longer, where it ends in the shorter.
func meetSuffixes(a, b []string) []string {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	both := []string{} // not nil: that would allow all
	for _, x := range a {
		for _, y := range b {
			longer, shorter := x, y
			if len(x) < len(y) {
				longer, shorter = y, x
			}
			if hasSuffixFold(longer, shorter) && !slices.Contains(both, longer) {
				both = append(both, longer)
			}
		}
	}
	return both
}

func hasSuffixFold(s, suffix string) bool {
	n := len(s) - len(suffix)
	return n >= 0 && strings.EqualFold(s[n:], suffix)
}

// Link is a symbolic link of the host that the sandbox shows again, because a
// granted path was named through it or the system base consists of it.
type Link struct {
	Path   string // where the link lies
	Target string // its text, as readlink(2) gives it
}
