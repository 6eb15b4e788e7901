// Package stub is what runs inside: the first process of a sandbox, which
// checks that the walls stand where the plan wants them, puts up the rest
// from inside and becomes the command.
//
// The stub is the program that links this package, entered again with [Arg]
// as its only argument: importing the package is enough. A program that is
// linked with -E github.com/sbx-run/sbx/launcher/stub.entry, as make build
// does on Linux, enters the stub before the Go runtime starts, which saves a
// millisecond of every command's start; otherwise a package's init does. What
// runs from there is the same.
//
// # Protocol
//
// Descriptor 3 is a stream socket to the launcher. The stub says hello, from
// which the kernel tells the launcher its process id; reads its [Orders], the
// image of a script of system calls, and carries them out; waits on the way
// until it is let go, when the launcher has it in hand; says ready right before
// the filter goes up and execve follows. A failure instead ends it. After ready
// the end of the stream means that the command runs: the socket closes on exec.
// If the launcher is gone, the stub finds the stream closed and ends before
// anything runs.
//
// # Order
//
// Every step narrows what the next one could do wrong: verify mounts, working
// directory, descriptors, program, signals, capabilities, Landlock, seccomp,
// limits, execve. All of it happens on one thread, because Landlock and
// seccomp bind the thread that execs.
package stub
