package policy

import "fmt"

// refusal says what would turn a refusal into a permission.
type refusal uint8

const (
	byAbsence    refusal = iota // a grant
	byFinalRule                 // nothing: a deny, a protected file, sbx's own files
	byDerivation                // a wider derivation, not a grant
	byTheWay                    // nothing: the path leads through what is not shown
)

// narrowing is one step of derivation, kept to say which one took an access
// away.
type narrowing struct {
	parent Area
	closed Access // accesses that new mounts would not get through this step
	rule   Rule
	why    string // a clause
	up     *narrowing
}

// refuse explains why op is not in the entry's access.
func (e Effective) refuse(op Access, p string, entry Entry) Decision {
	if rule, ok := e.closedForGood(p); ok && !entry.final {
		entry = Entry{Path: p, Kind: Hidden, Type: entry.Type, Rule: rule, final: true}
	}
	d := Decision{Entry: entry, Reason: reason(op, entry)}
	if entry.final {
		d.refusal = byFinalRule
		return d
	}
	for n := e.narrowed; n != nil; n = n.up {
		if n.closed.Has(op) {
			d.refusal = byDerivation
		}
		if n.parent.At(p).Access.Has(op) {
			d.Entry.Rule, d.Reason = n.rule, n.why
			break
		}
	}
	return e.inWorkspace(op, d)
}

// closedForGood finds the final rule for p where nothing is granted around it:
// the Area needs no entry for it then.
func (e Effective) closedForGood(p string) (Rule, bool) {
	for i := range e.Denies {
		if d := &e.Denies[i]; d.literal != "" && d.covers(p) {
			return d.Rule, true
		}
	}
	for _, own := range e.Places.Own {
		if Contains(own, p) {
			return ownRule, true
		}
	}
	return Rule{}, false
}

// unseen refuses a path that leads through a place which the sandbox does not
// show.
func (e Effective) unseen(what, p string) Decision {
	at := e.Decide(Read, p)
	return Decision{Entry: at.Entry, Reason: "leads through " + what + ", which is " + at.Reason, refusal: byTheWay}
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
			return e.Rule.Text
		}
		return grantedReason(e.Access)
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
