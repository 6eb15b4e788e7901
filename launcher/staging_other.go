//go:build !linux

package launcher

import "github.com/sbx-run/sbx/bwrap"

// PinsLinks reports whether links can be made mount points: only Linux has
// such.
func PinsLinks(bwrap.Layout) bool { return false }
