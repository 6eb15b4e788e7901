package main

import (
	"os"
	"os/signal"
	"syscall"
)

// catchSignals passes on to the command what sbx is sent while it runs.
//
// In a pipeline or a script on a terminal the command shares sbx's process
// group, and the kernel sends both what the user types: sbx passes that on to
// nobody, or the command would get it twice. Everywhere else the command has a
// group of its own, so what reaches sbx was meant for it alone. SIGTSTP is
// left to do what it does: sbx stops, and on a terminal the command with it.
//
// Nothing is put back: sbx ends with the command.
func catchSignals(shared bool) <-chan os.Signal {
	c := make(chan os.Signal, 16)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	typed := []os.Signal{syscall.SIGINT, syscall.SIGQUIT}
	if shared {
		signal.Ignore(typed...)
	} else {
		signal.Notify(c, typed...)
	}
	return c
}
