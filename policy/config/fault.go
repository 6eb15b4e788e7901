package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sbx-run/sbx/policy"
)

// fault is one error at a place; the file is added where it is known.
type fault = policy.ConfigError

// newFault makes a fault at a place; fix may be empty.
func newFault(at Pos, fix, format string, args ...any) *fault {
	return &fault{Line: at.Line, Col: at.Col, Message: fmt.Sprintf(format, args...), Fix: fix}
}

// FaultsError holds all faults of a configuration, in file order. errors.As
// finds the single *policy.ConfigError, and the error that caused one.
type FaultsError struct {
	Faults []*policy.ConfigError
	Causes []error // typed errors behind some of the faults: *policy.LinkedRootError, *policy.DuplicateRootError
}

// Error gives one line for each fault.
func (e *FaultsError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Hint returns the fix of the first fault that has one.
func (e *FaultsError) Hint() string {
	for _, f := range e.Faults {
		if f.Fix != "" {
			return f.Fix
		}
	}
	return ""
}

// Unwrap makes every fault and cause visible to errors.As.
func (e *FaultsError) Unwrap() []error {
	var all []error
	for _, f := range e.Faults {
		all = append(all, f)
	}
	return append(all, e.Causes...)
}

// show spells a path for a message: as a shell would take it, or with escapes
// where it holds what a terminal should not see.
func show(p string) string {
	for _, c := range p {
		if c == utf8.RuneError || !strconv.IsPrint(c) {
			return quote(p)
		}
	}
	return policy.ShellQuote(p)
}

// quote spells text for a message: on one line, unprintable bytes escaped.
func quote(s string) string { return strconv.Quote(s) }

// maxFaults is how many faults of one file are worth reading.
const maxFaults = 50

// inOrder sorts faults by their place and keeps the first of those that say
// the same.
func inOrder(faults []*fault) []*fault {
	slices.SortStableFunc(faults, func(a, b *fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	faults = slices.CompactFunc(faults, func(a, b *fault) bool { return *a == *b })
	if len(faults) > maxFaults {
		at := Pos{Line: faults[maxFaults].Line, Col: faults[maxFaults].Col}
		faults = append(faults[:maxFaults], newFault(at, "", "%d more faults from here on", len(faults)-maxFaults))
	}
	return faults
}
