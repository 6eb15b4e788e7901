//go:build !linux

package stub

// Main does nothing here: only Linux sandboxes have a stub.
func Main() {}
