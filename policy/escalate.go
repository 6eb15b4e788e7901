package policy

import (
	"fmt"
	"slices"
	"strconv"
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
			return nil, s.escalation(argument, written, check)
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
		return Entry{}, s.escalation("restrict", written, Read)
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
		return Resolution{}, Decision{}, s.escalation(argument, written, op)
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

// escalation words that the parent lacks op at an entry.
func (s Sandbox) escalation(argument, written string, op Access) error {
	word, want := "readable", Read
	if op == Write {
		word, want = "writable", Write
	}
	e := &PermissionEscalationError{Asked: fmt.Sprintf("%s='%s'", argument, printable(written))}
	roots := s.boundary(want)
	if len(roots) == 0 {
		e.Boundary = "parent sandbox has no " + word + " paths"
		e.Alternatives = []string{"no " + argument + " at all"}
		return e
	}
	e.Boundary = "the " + word + " paths of the parent sandbox are " + list(roots)
	e.Alternatives = []string{argument + " at or below " + list(roots)}
	if op == Write {
		e.Alternatives = append(e.Alternatives, "readonly=True")
	}
	return e
}

// narrowed applies the parts of the request that are no paths.
func (spec Spec) narrowed(r Request) (Spec, error) {
	if r.Network != nil {
		n, err := spec.Network.narrowed(*r.Network)
		if err != nil {
			return Spec{}, err
		}
		spec.Network = n
	}
	if err := checkLimits(spec.Limits, r.Limits); err != nil {
		return Spec{}, err
	}
	spec.Limits = spec.Limits.Meet(r.Limits)
	mounts, err := narrowMounts(spec.Mounts, r)
	if err != nil {
		return Spec{}, err
	}
	spec.Mounts = mounts
	return spec, nil
}

// narrowed returns ask, which must allow nothing that n does not, with n's
// denies.
func (n Network) narrowed(ask Network) (Network, error) {
	e := &PermissionEscalationError{Asked: "network=" + ask.Mode.String(), Boundary: "parent sandbox has no network access", Alternatives: []string{"network=off"}}
	if n.Mode == NetworkList {
		allowed := list(hostTexts(n.Allow))
		e.Boundary = "the hosts of the parent sandbox are " + allowed
		e.Alternatives = append(e.Alternatives, "hosts among "+allowed)
	}
	if ask.Mode > n.Mode {
		return Network{}, e
	}
	if ask.Mode == NetworkList {
		for _, h := range ask.Allow {
			if !n.covers(h) {
				e.Asked = "network host '" + h.String() + "'"
				return Network{}, e
			}
		}
	}
	met := n.Meet(ask)
	met.Rule = ask.Rule
	return met, nil
}

func hostTexts(rules []HostRule) []string {
	texts := make([]string, len(rules))
	for i, h := range rules {
		texts[i] = h.String()
	}
	return texts
}

func checkLimits(parent, ask Limits) error {
	asked := limitFields(ask)
	for i, p := range limitFields(parent) {
		if a := asked[i]; p.value != 0 && a.value > p.value {
			return &PermissionEscalationError{
				Asked:        "limits." + p.name + "=" + p.text(a.value),
				Boundary:     "parent sandbox has " + p.text(p.value),
				Alternatives: []string{"limits." + p.name + " up to " + p.text(p.value)},
			}
		}
	}
	return nil
}

// narrowMounts applies suffixes and sizes to every mount. Each mount keeps
// what it has in common with the request; what no mount has in common is an
// escalation.
func narrowMounts(mounts []Mount, r Request) ([]Mount, error) {
	if r.Suffixes == nil && r.MaxFileBytes == 0 {
		return mounts, nil
	}
	if err := checkSuffixes(mounts, r.Suffixes); err != nil {
		return nil, err
	}
	if err := checkSize(mounts, r.MaxFileBytes); err != nil {
		return nil, err
	}
	narrow := Mount{Suffixes: r.Suffixes, MaxFileBytes: r.MaxFileBytes}
	narrowed := make([]Mount, len(mounts))
	for i, m := range mounts {
		narrowed[i] = m.withRules(narrow)
	}
	return narrowed, nil
}

func checkSuffixes(mounts []Mount, asked []string) error {
	var all []string
	for _, suffix := range asked {
		allowed := len(mounts) == 0
		for _, m := range mounts {
			allowed = allowed || m.AllowsSuffix(suffix)
			all = append(all, m.Suffixes...)
		}
		if !allowed {
			slices.Sort(all)
			roots := list(slices.Compact(all))
			return &PermissionEscalationError{
				Asked:        "suffixes=['" + printable(suffix) + "']",
				Boundary:     "the suffixes of the parent sandbox are " + roots,
				Alternatives: []string{"suffixes among " + roots},
			}
		}
	}
	return nil
}

func checkSize(mounts []Mount, asked int64) error {
	largest := int64(0)
	for _, m := range mounts {
		if m.AllowsSize(asked) {
			return nil
		}
		largest = max(largest, m.MaxFileBytes)
	}
	if asked == 0 || len(mounts) == 0 {
		return nil
	}
	return &PermissionEscalationError{
		Asked:        "max_file_bytes=" + strconv.FormatInt(asked, 10),
		Boundary:     "parent sandbox has " + strconv.FormatInt(largest, 10),
		Alternatives: []string{"max_file_bytes up to " + strconv.FormatInt(largest, 10)},
	}
}
