//go:build !darwin

package launcher

import "github.com/sbx-run/sbx/policy"

// systemShows: here the policy lists all of the system base.
func systemShows(policy.Effective, string) bool { return false }
