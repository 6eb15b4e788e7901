package platform

import "github.com/sbx-run/sbx/bwrap"

// Request is what the caller wants of Choose.
type Request struct {
	Backend  Backend  // Auto or the one to use
	Require  []string // guarantees without which the command must not start
	Path     string   // the caller's PATH, for programs that no system directory has
	CacheDir string   // where probes are remembered; empty for nowhere

	// PinsLinks reports whether whoever carries the plan out can make the
	// PinLink mounts of this layout here. It is asked only where there are some;
	// nil says no.
	PinsLinks func(bwrap.Layout) bool
}
