// Package bwrap translates a policy.Effective into bubblewrap arguments. It is
// pure: it starts nothing, looks at no file and builds on every operating
// system.
//
// # Model
//
// A [Layout] is the ordered list of mounts that makes the view of an
// Effective out of an empty root. Host paths keep their names: source and
// destination of a bind are the same path.
//
// # Invariants
//
//   - Parents come before children, so no mount covers an earlier one that
//     lies inside it; a mask comes right after the bind that it masks.
//   - A place gets a mount only if what its parent's mount shows there is not
//     right already: the number of binds is minimal, because bubblewrap's
//     cost is quadratic in them.
//   - Where a place inside a writable bind is narrower than the bind, every
//     directory between the two is a mount point. A mount point cannot be
//     renamed or removed (EBUSY), so the narrow place cannot be moved aside
//     and made again by its old name. A link that leads to such a place is
//     mounted onto itself for the same reason; bubblewrap follows links where
//     it mounts, so those mounts are staged or not made at all.
//   - The root, /dev and file masks are read-only in the end, directory masks
//     that or without write permission; /proc/sys is read-only always, because
//     bubblewrap leaves it writable for root.
package bwrap
