package policy

import "slices"

// Meet returns what a callee gets whose own sandbox is callee and whose
// caller is confined to s. For every path p:
//
//	Meet(s, callee)(p) = s(p) ∩ callee(p)
//
// What the caller lacks is cut without an error. Names and sandbox paths are
// the callee's; the denies, the limits and the tools' rules of both hold.
func (s Sandbox) Meet(callee Sandbox) Sandbox {
	met := Sandbox{
		spec: callee.spec,
		base: pointwise(meetPlaces, s.base, callee.base),
		area: pointwise(meetPlaces, s.area, callee.area),
		narrowed: &narrowing{
			parent: callee.area, closed: ReadWrite, up: callee.narrowed,
			why: "granted by its own policy, but the caller's sandbox lacks it",
		},
	}
	met.spec.Mounts = meetMounts(s.spec.Mounts, callee.spec.Mounts)
	met.spec.Denies = slices.Concat(s.spec.Denies, callee.spec.Denies)
	met.spec.Network = s.spec.Network.Meet(callee.spec.Network)
	met.spec.Limits = s.spec.Limits.Meet(callee.spec.Limits)
	met.spec.Env.Pass = slices.DeleteFunc(slices.Clone(callee.spec.Env.Pass), func(name string) bool {
		return !slices.Contains(s.spec.Env.Pass, name) && !slices.Contains(s.spec.Env.Pass, anyName)
	})
	met.spec.RequireOS = s.spec.RequireOS || callee.spec.RequireOS
	met.spec.Sockets = s.spec.Sockets.Meet(callee.spec.Sockets)
	met.spec.Dynamic = s.spec.Dynamic && callee.spec.Dynamic
	met.spec.Protect = max(s.spec.Protect, callee.spec.Protect)
	met.spec.Guarded = slices.Concat(s.spec.Guarded, callee.spec.Guarded)
	met.spec.Places.Own = slices.Concat(s.spec.Places.Own, callee.spec.Places.Own)
	return met.withModes()
}

// meetPlaces joins what two sandboxes have at one place, the caller's first.
// A place that either hides is hidden, and a file of the host is labelled by
// whoever has less to say about it: the system base, then what is protected,
// then the one with less access, which is the callee's if both have the same.
func meetPlaces(at []Entry) Entry {
	e, other := at[0], at[1]
	if less := rank(other.Kind) - rank(e.Kind); less < 0 || less == 0 && e.Access.Has(other.Access) {
		e, other = other, e
	}
	e.Access = e.Access.Meet(other.Access)
	e.final = e.final || other.final
	if e.Access == None && e.Kind != Private {
		return Entry{Kind: Hidden, Rule: e.Rule, final: e.final}
	}
	return e
}

// rank orders kinds by which of two counts.
func rank(k Kind) int {
	return slices.Index([]Kind{Hidden, Private, System, Protected, Granted}, k)
}

// meetMounts returns the callee's mounts bound by the rules of the caller's
// around them, and without names the caller's inside them, bound likewise: the
// mount that holds a file decides, so no rule of either is lost.
func meetMounts(caller, callee []Mount) []Mount {
	var met []Mount
	for _, m := range callee {
		if outer, ok := mountOf(m.Root, caller); ok {
			m = m.withRules(outer)
		}
		met = append(met, m)
	}
	for _, inner := range caller {
		outer, ok := mountOf(inner.Root, callee)
		if ok && outer.Root != inner.Root {
			inner = inner.withRules(outer)
			inner.Name, inner.Written = "", joinWritten(outer.Written, relativeTo(outer.Root, inner.Root))
			met = append(met, inner)
		}
	}
	return met
}
