//go:build !linux && !darwin

package platform

import (
	"runtime"

	"github.com/sbx-run/sbx/policy"
)

// Choose reports that no backend works on this system yet.
func Choose(policy.Effective, Request) (Plan, error) {
	return Plan{}, &policy.BackendUnavailableError{Reason: "not available on " + runtime.GOOS + " yet"}
}

// Doctor reports that no backend works on this system yet.
func Doctor(Surroundings) Report {
	return Report{Findings: []Finding{{Name: "system", State: Missing, Detail: runtime.GOOS + " has no backend yet"}}}
}
