// Package seatbelt translates a policy into a profile of the macOS sandbox, in
// its profile language SBPL. It is pure and builds on every operating system;
// only whoever runs the profile needs a Mac.
//
// # Model
//
// [Render] maps an Effective and what one run adds to it to a [Profile]: equal
// policies give equal bytes. Everything is denied by default; what the policy
// shows is allowed by path. For a resolved host path p outside the exceptions
// below, and whatever reading of the rules the kernel follows,
//
//	policy.CanRead(p)   ⇔  reading, listing, looking at and executing p pass
//	policy.CanWrite(p)  ⇔  creating, changing and removing p pass
//
// # Rule order
//
// How Seatbelt chooses between rules is not documented, and measurements leave
// points open. The profile does not depend on them, because
//
//   - rules without a filter come first and are only ever floors, at most one
//     for an operation;
//   - operations that may not fall back to the default are stated: hard links,
//     clones, setuid bits, existence tests, process information;
//   - allow and deny of one access class name the same operations;
//   - entries are emitted from shallow to deep, denies by pattern after them;
//   - rules for single operations (metadata of ancestors, guards) come last.
//
// # Exceptions
//
// Decisions differ from the policy's in these places only:
//
//   - system base: a fixed set of system files is readable, as no program
//     starts without it (see System); a deny of the policy closes it again;
//   - ancestors of what is shown can be looked at, not listed;
//   - the root of an entry, and every directory above one, cannot be moved or
//     removed, and above an absent closed path no directory can be made:
//     Seatbelt matches paths, so moving a directory would move what is in it
//     out of reach of its rule;
//   - a drop box (write without read) gives nothing back: a name in it cannot
//     be moved or removed, since a move to a readable place would be a read;
//   - directories cannot be cloned as a whole, as closed places in them would
//     be copied along;
//   - setuid and setgid bits cannot be set anywhere;
//   - a closed path that is protected or absent is closed in every spelling of
//     case, on case-sensitive volumes too.
//
// # Limits
//
// Nothing here has been run on macOS by this project. The operations are those
// of macOS 10.15 and later; an older system would refuse the profile. Paths must arrive in the
// spelling that the volume stores; the renderer adds composed and decomposed
// spellings for the letters that unicode.go covers and no others. Hard links
// that exist before the run are separate names and keep their own access.
package seatbelt
