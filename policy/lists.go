package policy

import (
	"fmt"
	"slices"
	"strings"
)

// prefixes resolves the entries of a list to host paths with the access give.
// The parent must have the access check at each; None leaves that open.
func (s Sandbox) prefixes(argument string, list []string, check, give Access) ([]Entry, error) {
	entries := make([]Entry, 0, len(list))
	for _, written := range list {
		r, d, err := s.lookEntry(argument, written, check)
		if err != nil {
			return nil, err
		}
		if check != None && !d.Allowed {
			return nil, s.escalation(argument, written, check, whyNot(r, d))
		}
		entries = append(entries, s.prefix(r, give))
	}
	return entries, nil
}

// restriction returns the place that everything is restricted to. The parent
// must have some access there, or at least below.
func (s Sandbox) restriction(written string) (Entry, error) {
	r, d, err := s.lookEntry("restrict", written, None)
	if err != nil {
		return Entry{}, err
	}
	top := s.prefix(r, ReadWrite)
	hasAccess := func(e Entry) bool { return e.Access != None && e.Kind != System }
	if d.Entry.Access == None && !slices.ContainsFunc(s.area.below(top.Path), hasAccess) {
		return Entry{}, s.escalation("restrict", written, Read, whyNot(r, d))
	}
	return top, nil
}

// lookEntry finds what an entry means for the parent.
func (s Sandbox) lookEntry(argument, written string, op Access) (Resolution, Decision, error) {
	if err := s.checkEntry(argument, written); err != nil {
		return Resolution{}, Decision{}, err
	}
	host, err := s.placeOf(written)
	if err == errOutside {
		return Resolution{}, Decision{}, s.escalation(argument, written, op, "")
	}
	if err != nil {
		return Resolution{}, Decision{}, &RequestError{argument, written, err.Error()}
	}
	r, d, err := s.Effective().Look(op, host)
	if err != nil {
		return r, d, &RequestError{argument, written, problemOf(err)}
	}
	return r, d, nil
}

// checkEntry refuses what no parent could have meant.
func (s Sandbox) checkEntry(argument, written string) error {
	problem := ""
	slashed := strings.NewReplacer(`\`, "/", ":", "/").Replace(written)
	switch {
	case written == "":
		problem = "the entry is empty"
	case slices.Contains(strings.Split(slashed, "/"), ".."):
		problem = "'..' is not allowed; write the path from the top of the sandbox"
	case s.spec.Form == RootForm && slashed[0] != '/':
		problem = "entries start with '/', the top of the sandbox"
	}
	if problem == "" {
		return nil
	}
	return &RequestError{argument, written, problem}
}

// prefix makes an entry of what was found. A file stands for its directory,
// unless it is the mount itself.
func (s Sandbox) prefix(r Resolution, give Access) Entry {
	e := Entry{Path: r.Path, Access: give, Kind: Granted, Type: r.Type}
	if r.Type == TypeFile || r.Type == TypeSocket {
		if m, ok := mountOf(r.Path, s.spec.Mounts); ok && m.Root != r.Path {
			e.Path, e.Type = parent(r.Path), TypeDir
		}
	}
	return e
}

// whyNot explains a refusal of what lies inside the listed roots by its name.
func whyNot(r Resolution, d Decision) string {
	switch {
	case d.refusal == byFinalRule:
		return "it is closed for good; "
	case len(r.Links) > 0:
		return "it leads through a symbolic link to where the access ends; "
	}
	return ""
}

// escalation words that the parent lacks op at an entry.
func (s Sandbox) escalation(argument, written string, op Access, why string) error {
	word, want := "readable", Read
	if op == Write {
		word, want = "writable", Write
	}
	e := &PermissionEscalationError{Asked: fmt.Sprintf("%s='%s'", argument, Printable(written))}
	if roots := s.boundary(want); len(roots) == 0 {
		e.Boundary = why + "parent sandbox has no " + word + " paths"
		e.Alternatives = []string{"no " + argument + " at all"}
	} else {
		e.Boundary = why + "the " + word + " paths of the parent sandbox are " + list(roots)
		e.Alternatives = []string{argument + " at or below " + list(roots)}
	}
	if op == Write {
		e.Alternatives = append(e.Alternatives, "readonly=True")
	}
	return e
}
