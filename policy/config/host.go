package config

import "github.com/sbx-run/sbx/policy"

// Host is what Load takes from its surroundings besides the file system.
type Host struct {
	Places   policy.Places
	Env      func(name string) (value string, ok bool) // the caller's environment; nil is an empty one
	UserFile string                                    // absolute path of the user's config.yaml; empty for none

	// Trusted reports whether the user approved exactly this content of the
	// file at the canonical path. nil trusts nothing.
	Trusted func(path, sha256 string) bool

	// Session is what the caller's session changes of the workspace; nil for
	// none.
	Session *Overrides

	// MakeWorkspace lets Load create the workspace's root where it is missing.
	MakeWorkspace bool

	caller *policy.Sandbox // what bounds the result; set by Call

	// Approved returns the content of the file at the canonical path that the
	// user approved last, to say what has changed. nil knows none.
	Approved func(path string) (content []byte, ok bool)
}

// lookup asks the caller's environment.
func (h Host) lookup(name string) (string, bool) {
	if h.Env == nil {
		return "", false
	}
	return h.Env(name)
}

// trusted asks the user's approvals; without any, nothing is trusted.
func (h Host) trusted(path, sha256 string) bool {
	return h.Trusted != nil && h.Trusted(path, sha256)
}

// approved asks for the content that was approved last.
func (h Host) approved(path string) ([]byte, bool) {
	if h.Approved == nil {
		return nil, false
	}
	return h.Approved(path)
}
