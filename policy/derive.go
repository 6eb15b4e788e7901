package policy

import "slices"

// Derive returns the child sandbox that the request describes. The child
// never has more access than s to any path:
//
//	child(p) = s(p) ∩ (base(p) ∪ lists(p))        where a mount gave s(p)
//	child(p) = s(p)                               everywhere else
//
// base is the view without any grant: a mount that the lists drop leaves
// what the system base and the private places have there. Denies, hidden and
// protected places and mounts inside mounts are part of s(p), so they
// survive.
//
// It fails with a *PermissionEscalationError where the request asks for more
// than s has, and with a *RequestError where it is malformed.
func (s Sandbox) Derive(r Request) (Sandbox, error) {
	if err := r.check(); err != nil {
		return Sandbox{}, err
	}
	child := s
	if r.Restrict != "" {
		top, err := s.restriction(r.Restrict)
		if err != nil {
			return Sandbox{}, err
		}
		child = child.bounded(NewArea(top), ReadWrite, r.Rule)
	}
	child, err := child.listed(r)
	if err != nil {
		return Sandbox{}, err
	}
	if child.spec, err = child.spec.narrowed(r); err != nil {
		return Sandbox{}, err
	}
	return child.denying(r.Deny).withModes(), nil
}

// listed applies the lists and Readonly.
func (s Sandbox) listed(r Request) (Sandbox, error) {
	if r.Readonly != nil && !*r.Readonly && len(s.area.Roots(Write)) == 0 {
		return Sandbox{}, &PermissionEscalationError{
			Asked:        "readonly=False",
			Boundary:     "parent sandbox is readonly",
			Alternatives: []string{"readonly=True", "no readonly at all"},
		}
	}
	lists, all, err := s.requested(r)
	switch {
	case err != nil:
		return Sandbox{}, err
	case !all:
		return s.bounded(lists, ReadWrite, r.Rule), nil
	case r.readonly():
		return s.bounded(NewArea(Entry{Path: "/", Access: Read, Kind: Granted}), Write, r.Rule), nil
	}
	return s, nil
}

// requested returns the area that the lists span. all says that there is no
// list and everything stays.
func (s Sandbox) requested(r Request) (lists Area, all bool, err error) {
	read, write, all := r.lists()
	if all {
		return Area{}, true, nil
	}
	// A read list that only follows from the write list asks for nothing: what
	// of it cannot be read is dropped, unless reading is all that is left.
	checkRead, readArgument := Read, "allow_read"
	if r.AllowRead == nil {
		readArgument = "allow_write"
		if !r.readonly() {
			checkRead = None
		}
	}
	checkWrite := Write
	if r.readonly() {
		checkWrite = None
	}
	writes, err := s.prefixes("allow_write", write, checkWrite, Write)
	if err != nil {
		return Area{}, false, err
	}
	reads, err := s.prefixes(readArgument, read, checkRead, Read)
	if err != nil {
		return Area{}, false, err
	}
	if r.readonly() {
		writes = nil
	}
	union := func(at []Entry) Entry { return Entry{Access: at[0].Access.Join(at[1].Access), Kind: Granted} }
	return pointwise(union, NewArea(reads...), NewArea(writes...)), false, nil
}

// bounded returns s with the access of its mounts bounded by lists. closed is
// what a mount added to s later would not get.
func (s Sandbox) bounded(lists Area, closed Access, rule Rule) Sandbox {
	s.narrowed = &narrowing{parent: s.area, closed: closed, rule: rule, why: "granted to the parent sandbox, but not to this one", up: s.narrowed}
	s.area = pointwise(keepListed, s.area, s.base, lists)
	return s
}

// keepListed narrows one place: at holds the parent's entry, the base's and
// the lists'. Only what mounts gave is narrowed.
func keepListed(at []Entry) Entry {
	parent, base, listed := at[0], at[1], at[2].Access
	if parent.Kind != Granted && parent.Kind != Protected {
		return parent
	}
	if parent.Access.Meet(listed) != None {
		parent.Access = parent.Access.Meet(listed.Join(base.Access))
		return parent
	}
	base.Access = base.Access.Meet(parent.Access)
	if base.Kind == System && base.Access == None {
		return Entry{Kind: Hidden}
	}
	return base
}

// denying adds denies.
func (s Sandbox) denying(denies []Deny) Sandbox {
	if len(denies) == 0 {
		return s
	}
	bound := bindAll(denies, s.spec.Mounts)
	s.spec.Denies = slices.Concat(s.spec.Denies, bound)
	s.area = s.area.Cut(closedForGood(bound, nil)...)
	return s
}

// withModes sets the mode of every mount that has nothing writable left to
// read-only. The mounts stay, with or without access: messages name places
// by them, and name patterns count from them.
func (s Sandbox) withModes() Sandbox {
	writable := s.area.Roots(Write)
	mounts := slices.Clone(s.spec.Mounts)
	for i, m := range mounts {
		if m.Mode == ReadAndWrite && !s.area.At(m.Root).Access.Has(Write) && !anyBelow(writable, m.Root) {
			mounts[i].Mode = ReadOnly
		}
	}
	s.spec.Mounts = mounts
	return s
}

// anyBelow reports whether one of the sorted paths lies at or below dir.
func anyBelow(sorted []string, dir string) bool {
	i, _ := slices.BinarySearchFunc(sorted, dir, ComparePaths)
	return i < len(sorted) && Contains(dir, sorted[i])
}
