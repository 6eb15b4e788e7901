package platform

import (
	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt"
)

// Backend is a way to enforce a policy.
type Backend string

// The backends. Auto lets Choose pick the first that works.
const (
	Auto     Backend = "auto"
	Bwrap    Backend = "bwrap"    // bubblewrap, hardened from inside
	Builtin  Backend = "builtin"  // Landlock and seccomp alone, no namespaces
	Seatbelt Backend = "seatbelt" // macOS
	None     Backend = "none"     // unconfined; only with require_os_sandbox: false
)

// Plan is a policy with the means to enforce it on this machine.
type Plan struct {
	Backend   Backend
	Effective policy.Effective

	// Program, Features and Layout are for Bwrap.
	Program  string
	Features bwrap.Features
	Layout   bwrap.Layout

	// Landlock is the second layer inside Bwrap and the wall of Builtin. Its
	// zero value is none.
	Landlock landlock.Ruleset
	gaps     []landlock.Gap // what this kernel's lacks of it

	// Machine is for Seatbelt: what this machine adds to the profile. Partial
	// are the deny patterns that the profile closes only where a match exists.
	Machine seatbelt.Run
	Partial []policy.Deny
}
