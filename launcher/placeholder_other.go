//go:build !linux

package launcher

// ReclaimPlaceholders does nothing: no backend of this system makes any.
func ReclaimPlaceholders(string) {}
