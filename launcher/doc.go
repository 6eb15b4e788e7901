// Package launcher starts a command under a platform.Plan and reports how it
// ended.
//
// # Model
//
// Plan -> running command -> [Result]. The launcher opens every source as a
// descriptor without following a link, starts the backend with an empty
// environment from a locked thread, hands the stub its orders over a socket
// and waits. It decides nothing about access: the plan did.
//
// # Invariants
//
//   - The command runs only after the stub has seen from inside that every
//     mount stands as planned. Until then an error means that nothing ran.
//   - What a mount shows is the inode whose descriptor was opened, or nothing.
//   - No process of a run outlives it, whoever is killed: bubblewrap and its
//     process 1 die with their parents, and a stub whose launcher is gone finds
//     its socket closed and ends.
//   - Exit status and failure come from records (bubblewrap's status
//     descriptor, the stub's socket), never from wording or from guesses.
//   - Nothing is written to the host.
package launcher
