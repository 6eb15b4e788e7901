//go:build !linux

package landlock

import "errors"

// ABI fails with an [Error]: only Linux has Landlock.
func ABI() (int, error) {
	return 0, Error{Op: "read the ABI", Err: errors.ErrUnsupported}
}

// Apply fails with an [Error]: only Linux has Landlock.
func Apply(Enforced) error {
	return Error{Op: "apply", Err: errors.ErrUnsupported}
}
