package seatbelt

import (
	"slices"

	"github.com/sbx-run/sbx/policy"
)

// Shows reports whether the profile of e and run lets a command read and
// execute the resolved path p. Beyond what the policy allows that is the system
// base of macOS, which the policy's own does not list. A policy that has no
// profile shows nothing.
func Shows(e policy.Effective, run Run, p string) bool {
	l, err := newLayout(e, run)
	if err != nil {
		return false
	}
	p = canonical(p)
	if closedByPattern(e, p) {
		return false
	}
	var at place
	for _, q := range l.places { // by depth: the last one decides
		if policy.Contains(q.Path, p) {
			at = q
		}
	}
	if at.Path != "" {
		return at.Access.Has(policy.Read)
	}
	return inBase(e, run, p)
}

// closedByPattern reports whether a deny closes a path that may lie outside
// the policy's own area, where Decide would say no for another reason.
func closedByPattern(e policy.Effective, p string) bool {
	at := e.Area.At(p)
	return at.Access.Has(policy.Read) && !e.CanRead(p)
}

// inBase reports whether p is part of the system base.
func inBase(e policy.Effective, run Run, p string) bool {
	if p == "/" {
		return true
	}
	if e.System == policy.HostSystem && slices.ContainsFunc(hostSecrets, func(s string) bool { return policy.Contains(s, p) }) {
		return false
	}
	return slices.ContainsFunc(baseRoots(e, run), func(root string) bool {
		single := slices.Contains(programFiles, root) || slices.Contains(networkFiles, root)
		return root == p || !single && policy.Contains(root, p)
	})
}
