//go:build !linux

package seccomp

import "errors"

// Install fails with an [InstallError]: only Linux has seccomp.
func Install(p Program) error {
	if p.Len() == 0 {
		return loadable(p)
	}
	return InstallError{Op: "install", Err: errors.ErrUnsupported}
}
