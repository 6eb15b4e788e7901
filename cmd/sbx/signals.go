package main

import (
	"os"
	"os/signal"
	"syscall"
)

// catchSignals decides who gets which signal while a command runs.
//
// On a terminal the kernel sends what the user types to the whole foreground
// group: the command acts on it, sbx and the backend must not. They ignore it,
// and ignoring is inherited; the stub undoes that for the command. Without a
// terminal the command has a session of its own, and sbx passes everything on.
//
// Nothing is put back: sbx ends with the command.
func catchSignals(interactive bool) <-chan os.Signal {
	c := make(chan os.Signal, 16)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	typed := []os.Signal{syscall.SIGINT, syscall.SIGQUIT}
	if interactive {
		signal.Ignore(typed...)
	} else {
		signal.Notify(c, typed...)
	}
	return c
}
