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
