// Package stage builds many mounts in a short time, beside bubblewrap.
//
// # Model
//
// The builder is the program that links this package, entered again with
// [Arg] as its only argument in a mount namespace of its own, and where the
// caller has no privileges in a user namespace that owns it. It copies what
// each mount shows (open_tree), sets its flags (mount_setattr) and puts it
// into place (move_mount) below a directory that no mount shows, and sends
// back each finished tree as a descriptor. The launcher attaches those to the
// sandbox, whose first process waits to be let go meanwhile. It needs Linux
// 5.12; where the kernel or its filters refuse, [Start] says so before
// anything else has begun.
//
// Root also has mounts built here that bubblewrap could not reach: those below
// directories of other users, which are closed to root in a user namespace.
// Nobody in the sandbox can look at these, so the launcher does, once they are
// attached.
//
// # Invariants
//
//   - The tree shows what the launcher has seen: the namespace of the builder
//     does not take descriptors of another, so each source is opened by its
//     path, without following links, and must be the same file.
//   - A mount has its flags before anybody can reach it: read-only where
//     planned, never setuid, never devices, with all that is mounted below.
//   - Everything in the tree is private: what the host mounts later does not
//     show, nor does anything that is made here reach the host.
//   - Nothing is written to the host: mount points are made only in memory.
//   - A link that is pinned is the one that the launcher has seen, with the same
//     text, and is verified from outside when it is in place.
//   - The builder ends with the launcher, and its mounts with it.
package stage
