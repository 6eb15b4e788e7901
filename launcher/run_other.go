//go:build !linux && !darwin

package launcher

import (
	"context"

	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// Run reports that this system has no backend yet.
func Run(context.Context, platform.Plan, Command) (Result, error) {
	return Result{}, &policy.BackendUnavailableError{Reason: "not available on this system yet"}
}
