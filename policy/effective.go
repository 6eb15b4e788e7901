package policy

// Effective is what the kernel is to enforce: the whole view of a sandbox
// after derivation. Backends see nothing else. Treat it as immutable: the
// slices are shared.
type Effective struct {
	Area    Area    // every place of the host: system base, mounts, private places, denies
	Mounts  []Mount // for names in messages and for the tools' own rules; some may have no access left
	Denies  []Deny  // patterns among them cover what Expand finds
	Links   []Link  // symbolic links to show again, outside all mounts
	System  SystemBase
	Places  Places
	Network Network
	Env     Environment
	Limits  Limits

	RequireOS bool
	Dynamic   bool
	Sockets   Sockets
	Protect   Protect
	Sources   []string

	guarded  []string   // policy files, also those that do not exist
	watch    *watch     // what Expand found of protected names; nil before it
	narrowed *narrowing // what derivations have taken away, for explanations
}

// Decision answers one question about a host path. Allowed and the kernel
// agree; the rest says why and what would change it.
type Decision struct {
	Allowed bool
	Entry   Entry  // the entry that decided
	Reason  string // one clause: "granted read-write", "outside the sandbox"

	refusal refusal
}

// Decide reports whether the command may do op at the canonical host path p.
// Symbolic links are the caller's to resolve: see Look.
func (e Effective) Decide(op Access, p string) Decision {
	entry := e.Area.At(p)
	if deny, ok := e.deniedBy(p); ok {
		entry = Entry{Path: p, Kind: Hidden, Type: entry.Type, Rule: deny.Rule, final: true}
	}
	if entry.Access.Has(op) && op != None {
		return Decision{Allowed: true, Entry: entry, Reason: reason(op, entry)}
	}
	return e.refuse(op, p, entry)
}

// CanRead reports whether the canonical host path p is readable. It allocates
// nothing where no deny is a pattern.
func (e Effective) CanRead(p string) bool { return e.can(Read, p) }

// CanWrite reports whether the canonical host path p is writable.
func (e Effective) CanWrite(p string) bool { return e.can(Write, p) }

func (e Effective) can(op Access, p string) bool {
	if !e.Area.At(p).Access.Has(op) {
		return false
	}
	_, denied := e.deniedBy(p)
	return !denied
}

// deniedBy returns the pattern that closes p. Literal denies are entries of
// the Area already.
func (e Effective) deniedBy(p string) (Deny, bool) {
	for i := range e.Denies {
		if d := &e.Denies[i]; d.literal == "" && d.covers(p) {
			return *d, true
		}
	}
	return Deny{}, false
}

// MountOf returns the most specific mount that holds the host path p.
func (e Effective) MountOf(p string) (Mount, bool) { return mountOf(p, e.Mounts) }

// Look resolves a host path as the command would and decides. A path that
// leads through a place which the sandbox does not show leads nowhere,
// whatever lies behind it.
func (e Effective) Look(op Access, p string) (Resolution, Decision, error) {
	if entry := e.Area.At(p); entry.Path == p && entry.Kind == System {
		return Resolution{Path: p, Type: entry.Type}, e.Decide(op, p), nil
	}
	r, err := resolve(p)
	for _, l := range r.Links {
		if !e.shows(l) {
			return r, e.unseen("the link "+l.Path, l.Path), nil
		}
	}
	if err != nil && len(r.Links) > 0 {
		r.left = append(r.left, r.Path) // what failed there must not tell what is there
	}
	for _, dir := range r.left {
		if !e.leadsSomewhere(dir) {
			return r, e.unseen("the directory "+dir, dir), nil
		}
	}
	if err != nil {
		return Resolution{}, Decision{}, err
	}
	return r, e.Decide(op, r.Path), nil
}

// shows reports whether the command finds the link where the host has it.
func (e Effective) shows(l Link) bool {
	for _, own := range e.Links {
		if own == l {
			return true
		}
	}
	_, denied := e.deniedBy(l.Path)
	return !denied && e.Area.At(l.Path).Access != None
}

// leadsSomewhere reports whether the command finds a directory at dir: one
// that it has access to, one of its own, or one on the way to either.
func (e Effective) leadsSomewhere(dir string) bool {
	if dir == "/" {
		return true
	}
	if e.Area.At(dir).Access != None {
		_, denied := e.deniedBy(dir)
		return !denied
	}
	for _, below := range e.Area.below(dir) {
		if below.Kind != Hidden {
			return true
		}
	}
	return false
}

// Readable returns the minimal sorted roots that the policy makes readable.
// The system base is not among them.
func (e Effective) Readable() []string { return e.Area.Roots(Read) }

// Writable returns the minimal sorted roots that the policy makes writable.
func (e Effective) Writable() []string { return e.Area.Roots(Write) }

// ReadableAsWritten returns the readable roots as the user wrote them, in the
// order of the mounts.
func (e Effective) ReadableAsWritten() []string { return boundary(e.Area, e.Mounts, Read, asWritten) }

// WritableAsWritten returns the writable roots as the user wrote them, in the
// order of the mounts.
func (e Effective) WritableAsWritten() []string { return boundary(e.Area, e.Mounts, Write, asWritten) }
