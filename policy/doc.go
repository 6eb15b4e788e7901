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
// Places of a sandbox have a [Kind]: what mounts grant, and within that
// single files that are protected; the system base, read-only; private places,
// which are the sandbox's own and show nothing of the host; and the hidden
// rest. Writing without reading, a drop box, is legal.
//
// # Invariants
//
// For areas a and b, sandboxes s and t, requests r and q, paths p and a deny d:
//
//	At(a, p).Access ∈ {∅, {r}, {w}, {r,w}}           total, for every path
//	a = b  ⇔  Entries(a) = Entries(b)                 areas have one normal form
//	p at or below a match of d  ⇒  s(p) = ∅           no layer reopens a deny
//	CanRead(p)  ⇔  Decide(Read, p).Allowed            one answer for all askers
//	Derive(s, r)(p) ⊆ s(p)                            a child only narrows
//	Derive(Derive(s, r), q) = Derive(s, r ∧ q)        in any number of steps
//	Meet(s, t)(p) = s(p) ∩ t(p)                       a callee has no more than its caller
//
// A decision is about a canonical path. [Resolve] makes one, [Effective.Look]
// does both the way a command inside would: a link that the sandbox does not
// show leads nowhere, and one that leads to another place of the sandbox leads
// there. The place decides, not the way to it.
//
// # Derivation
//
// [Sandbox.Derive] bounds what mounts gave:
//
//	child(p) = s(p) ∩ (base(p) ∪ lists(p))
//
// Where a list drops a mount, the child has there what the base has, at most;
// never what lies beneath another mount. Everything that is not from a mount
// is part of s(p) and stays: the base, private places, what is hidden.
//
// # Sandbox paths
//
// Tools, and whoever they act for, name places by sandbox paths: "/src" where
// one directory is the virtual root, "docs/a.md" where mounts have names. They
// are the same in every child. [Queryer] is the interface that tools ask; its
// answers and those about host paths come from one look-up. Refusals list what
// is allowed in the spelling of the asker, and nothing that is hidden.
//
// Suffixes, sizes and approvals of a [Mount] bind the built-in tools alone; no
// kernel enforces them.
//
// # Files
//
// The package reads the host in [Resolve] and in [Effective.Expand], which
// finds what deny patterns match. Nothing that these two see is trusted for
// enforcement: the launcher opens what it mounts and checks the descriptor.
// Beside the standard library it imports doublestar, whose matcher is pure.
package policy
