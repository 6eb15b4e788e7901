// Package stub is what runs inside: the first process of a sandbox, which
// checks that the walls stand where the plan wants them, puts up the rest
// from inside and becomes the command.
//
// The stub is the program that links this package, entered again with [Arg]
// as its only argument: importing the package is enough.
//
// # Protocol
//
// Descriptor 3 is a stream socket to the launcher. The stub says Hello, from
// which the kernel tells the launcher its process id; reads a [Spec]; says
// Ready right before execve. A Failure instead ends it. After Ready the end
// of the stream means that the command runs: the socket closes on exec. If
// the launcher is gone, the stub finds the stream closed and ends before
// anything runs.
//
// # Order
//
// Every step narrows what the next one could do wrong: verify mounts, working
// directory, descriptors, signals, Landlock, seccomp, limits, execve. All of
// it happens on one locked thread, because Landlock and seccomp bind the
// thread that execs.
package stub
