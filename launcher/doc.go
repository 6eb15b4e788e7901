// Package launcher starts a command under a platform.Plan and reports how it
// ended.
//
// # Model
//
// Plan -> running command -> [Result]. The launcher opens every source as a
// descriptor without following a link, starts the backend with an empty
// environment from a thread that lives as long, hands the stub its orders over
// a socket and waits. It decides nothing about access: the plan did.
//
// # Invariants
//
//   - The command runs only after the stub has seen from inside that every
//     mount stands as planned. Until then an error means that nothing ran.
//   - What a mount shows is the inode whose descriptor was opened, or nothing.
//   - No process of a run outlives it, whoever is killed: bubblewrap and its
//     process 1 die with their parents, and a stub whose launcher is gone finds
//     its socket closed and ends.
//   - That the command ran, or why not, comes from the stub's records, never
//     from wording or from guesses; from there on bubblewrap's own status is
//     the command's.
//   - Nothing is written to the host, but for a control group where a limit
//     needs one and, with the built-in backend, a directory for the run's
//     private files. Both are removed, or swept by the next run.
//   - A limit is kept by the kernel, or else watched and named in
//     [Result.Gaps]; a run that goes over one ends, and [Result.Overrun] says
//     which it was.
//
// # Terminals
//
// A command that is alone on its terminal gets a process group of its own
// there: keys reach it and nothing else, sbx passes on what it is sent itself,
// stops when the command stops and hands the terminal back in the end. The
// backend is in that group too, with all signals blocked but those that stop
// it, because its stop is how its parent learns of the command's. In a
// pipeline or a script the command shares the caller's group, as any program
// would; Landlock (Linux 6.12) keeps its signals inside.
package launcher
