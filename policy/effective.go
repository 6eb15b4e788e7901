package policy

import (
	"fmt"
	"strings"
)

// Effective is what the kernel is to enforce: the whole view of a sandbox
// after derivation. Backends see nothing else. Treat it as immutable: the
// slices are shared.
type Effective struct {
	Area    Area    // every place of the host: system base, mounts, private places, denies
	Mounts  []Mount // for names in messages and for the tools' own rules
	Denies  []Deny  // patterns among them cover what Expand finds
	Links   []Link  // symbolic links to show again, outside all mounts
	System  SystemBase
	Places  Places
	Network Network
	Env     Environment
	Limits  Limits

	RequireOS bool
	Dynamic   bool
	Sources   []string
}

// Decision answers one question about a host path. Allowed and the kernel
// agree; the rest says why and what would change it.
type Decision struct {
	Allowed bool
	Entry   Entry  // the entry that decided
	Reason  string // one clause: "granted read-write", "outside the sandbox"
}

// Decide reports whether the command may do op at the canonical host path p.
// Symbolic links are the caller's to resolve: see Look.
func (e Effective) Decide(op Access, p string) Decision {
	entry := e.Area.At(p)
	if deny, ok := e.deniedBy(p); ok {
		entry = Entry{Path: p, Kind: Hidden, Type: entry.Type, Rule: deny.Rule}
	}
	return Decision{
		Allowed: entry.Access.Has(op) && op != None,
		Entry:   entry,
		Reason:  reason(op, entry),
	}
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
	for _, d := range e.Denies {
		if _, literal := d.Literal(); literal {
			continue
		}
		if d.covers(p, e.outermostRoot(p)) {
			return d, true
		}
	}
	return Deny{}, false
}

// outermostRoot returns the root of the widest mount that holds p: a name
// pattern counts at any depth of it.
func (e Effective) outermostRoot(p string) string {
	root := ""
	for _, m := range e.Mounts {
		if Contains(m.Root, p) && (root == "" || len(m.Root) < len(root)) {
			root = m.Root
		}
	}
	return root
}

// Look resolves a host path as the command would and decides. A link that the
// sandbox does not show leads nowhere, whatever lies behind it.
func (e Effective) Look(op Access, p string) (Resolution, Decision, error) {
	if entry := e.Area.At(p); entry.Path == p && entry.Kind == System {
		return Resolution{Path: p, Type: entry.Type}, e.Decide(op, p), nil
	}
	r, err := Resolve(p)
	if err != nil {
		return r, Decision{}, err
	}
	d := e.Decide(op, r.Path)
	for _, l := range r.Links {
		if !e.shows(l) {
			at := e.Area.At(l.Path)
			return r, Decision{Entry: at, Reason: "leads through the link " + l.Path + ", which is " + reason(Read, at)}, nil
		}
	}
	return r, d, nil
}

// shows reports whether the command finds the link where the host has it.
func (e Effective) shows(l Link) bool {
	for _, own := range e.Links {
		if own == l {
			return true
		}
	}
	return e.CanRead(l.Path)
}

// Readable returns the minimal sorted roots that the policy makes readable.
// The system base is not among them.
func (e Effective) Readable() []string { return e.Area.Roots(Read) }

// Writable returns the minimal sorted roots that the policy makes writable.
func (e Effective) Writable() []string { return e.Area.Roots(Write) }

// ReadableAsWritten returns the readable roots as the user wrote them.
func (e Effective) ReadableAsWritten() []string { return boundary(e.Area, e.Mounts, Read) }

// WritableAsWritten returns the writable roots as the user wrote them.
func (e Effective) WritableAsWritten() []string { return boundary(e.Area, e.Mounts, Write) }

// Connect decides whether the command may reach host at port; port 0 asks for
// every port.
func (e Effective) Connect(host string, port int) Decision {
	n := e.Network
	d := Decision{Entry: Entry{Rule: n.Rule}}
	switch n.Mode {
	case NetworkOff:
		d.Reason = "the network is off"
		return d
	case NetworkOn:
		d.Allowed, d.Reason = true, "the network is on"
		return d
	}
	for _, h := range n.Deny {
		if h.Matches(host, port) || port == 0 && h.Matches(host, h.Port) {
			d.Reason = fmt.Sprintf("denied by %s", h)
			return d
		}
	}
	for _, h := range n.Allow {
		if h.Matches(host, port) {
			d.Allowed, d.Reason = true, fmt.Sprintf("allowed by %s", h)
			return d
		}
	}
	d.Reason = "not on the allow-list"
	return d
}

// AllowWith returns the smallest flag that would turn a refusal of op at the
// resolved path r into a permission, or "" where no flag can.
func (e Effective) AllowWith(op Access, r Resolution, d Decision) string {
	if d.Allowed || e.final(d.Entry) {
		return ""
	}
	target := r.Path
	for r.Type == TypeMissing && target != "/" {
		target = parent(target)
		if rr, err := Resolve(target); err != nil || rr.Type != TypeMissing {
			break
		}
	}
	if target == "/" {
		return ""
	}
	flag := "--ro "
	if op.Has(Write) {
		flag = "--rw "
	}
	return flag + ShellQuote(e.relative(target))
}

// final reports whether a rule closed the entry for good.
func (e Effective) final(entry Entry) bool {
	if entry.Kind == Protected {
		return true
	}
	for _, d := range e.Denies {
		if d.Rule == entry.Rule {
			return true
		}
	}
	for _, own := range e.Places.Own {
		if Contains(own, entry.Path) {
			return true
		}
	}
	return false
}

// relative spells p the short way where it lies below the working directory.
func (e Effective) relative(p string) string {
	cwd := e.Places.Cwd
	if cwd == "" || cwd == "/" || !Contains(cwd, p) {
		return p
	}
	if p == cwd {
		return "."
	}
	return "./" + p[len(cwd)+1:]
}

// ShellQuote quotes s as one word for a POSIX shell, if it needs quoting.
func ShellQuote(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("@%+=:,./-_", r))
	}) < 0
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func reason(op Access, e Entry) string {
	switch e.Kind {
	case System:
		if op.Has(Write) {
			return "part of the read-only system base"
		}
		return "part of the system base"
	case Private:
		return fmt.Sprintf("private: the command sees its own %s", e.Path)
	case Protected:
		if op.Has(Write) {
			return "protected: other tools act on this file by themselves"
		}
		return "granted read-only"
	case Granted:
		return grantedReason(e.Access)
	}
	if e.Rule == (Rule{}) {
		return "outside the sandbox"
	}
	return "hidden by " + e.Rule.Text
}

func grantedReason(a Access) string {
	switch a {
	case ReadWrite:
		return "granted read-write"
	case Read:
		return "granted read-only"
	case Write:
		return "granted write-only"
	}
	return "not granted"
}
