//go:build !linux && !darwin

package main

import "os"

// isTerminal reports whether f looks like a terminal.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Name() != os.DevNull
}

// ownTerminal: no backend here has a use for it.
func ownTerminal() *os.File { return nil }
