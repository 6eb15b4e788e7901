package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal reports whether f is a terminal.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// ownTerminal is the terminal if sbx is alone on it: all its streams lead
// there, and it leads its process group, which a shell makes for each job. In
// a pipeline or a script others share the group and may need the terminal too.
func ownTerminal() *os.File {
	alone := isTerminal(os.Stdin) && isTerminal(os.Stdout) && isTerminal(os.Stderr)
	if !alone || unix.Getpgrp() != os.Getpid() {
		return nil
	}
	return os.Stdin
}
