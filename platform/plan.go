package platform

import (
	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/policy"
)

// Backend is a way to enforce a policy.
type Backend string

// The backends. Auto lets Choose pick the first that works.
const (
	Auto     Backend = "auto"
	Bwrap    Backend = "bwrap"    // bubblewrap, hardened from inside
	Builtin  Backend = "builtin"  // Landlock and seccomp alone, no namespaces
	Seatbelt Backend = "seatbelt" // macOS
)

// Plan is a policy with the means to enforce it on this machine.
type Plan struct {
	Backend   Backend
	Effective policy.Effective

	// Program, Features and Layout are for Bwrap.
	Program  string
	Features bwrap.Features
	Layout   bwrap.Layout

	Guarantees []Guarantee
}

// Guarantee is one promise, and whether this plan keeps it.
type Guarantee struct {
	Name   string `json:"name"`
	Held   bool   `json:"held"`
	Detail string `json:"detail,omitempty"` // how it is kept, or why it is not
}
