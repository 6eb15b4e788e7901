// Package policy is the model of sbx: what a command may read, write and
// reach. It decides and explains; it enforces nothing.
//
// # Model
//
// An [Access] is a set over {read, write}. An [Area] is a total function from
// absolute host paths to an [Entry] with an Access; the most specific listed
// path decides, by whole components, and everything unlisted is none. A
// [Sandbox] is a policy: mounts on top of a system base, minus what is denied.
// Its [Effective] is what a kernel is to enforce, and all that backends see.
//
//	Config -> Sandbox -> Effective -> Plan -> Result
//
// # Invariants
//
// For areas a and b, paths p, and a deny d:
//
//	At(a, p).Access ∈ {∅, {r}, {w}, {r,w}}        total, for every path
//	a = b  ⇔  Entries(a) = Entries(b)              areas have one normal form
//	p below a match of d  ⇒  Decide(op, p) refused no layer reopens a deny
//	CanRead(p)  ⇔  Decide(Read, p).Allowed         one answer for all askers
//
// A decision is about a canonical path. [Resolve] makes one, [Effective.Look]
// does both the way a command inside would: a link that the sandbox does not
// show leads nowhere.
//
// # Files
//
// The package reads the host only in Resolve and in [Effective.Expand], which
// finds what deny patterns match. Nothing that these two see is trusted for
// enforcement: the launcher opens what it mounts and checks the descriptor.
// Beside the standard library it imports doublestar, whose matcher is pure.
package policy
