package launcher

import "github.com/sbx-run/sbx/platform"

// filter returns the seccomp program for a plan.
func filter(plan platform.Plan) []byte {
	return nil
}
