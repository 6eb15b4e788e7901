package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Form is how sandbox paths name places of the host.
type Form uint8

// PathForm names mounts: "output/reports". RootForm has one mount, at the
// virtual "/".
const (
	PathForm Form = iota
	RootForm
)

// Environment says which variables reach the command besides the short list
// that every run passes.
type Environment struct {
	Pass []string // names, or patterns with "*"
	Set  []Variable
}

// Variable is one environment variable.
type Variable struct{ Name, Value string }

// Spec is everything that makes a Sandbox, with all roots resolved.
type Spec struct {
	Form    Form
	Mounts  []Mount
	Denies  []Deny
	Links   []Link // links crossed by the roots as written
	Base    Base
	Places  Places
	Network Network
	Env     Environment
	Limits  Limits

	RequireOS bool     // refuse to run without kernel enforcement
	Dynamic   bool     // grants may be asked for while the command runs
	Sources   []string // files and flags the policy came from, for reports
}

// Sandbox is a policy: what a command may see, from which child policies
// derive. It is immutable.
type Sandbox struct {
	spec Spec
	area Area
}

// DuplicateRootError reports two mounts of one root.
type DuplicateRootError struct {
	Root          string
	First, Second Mount
}

func (e *DuplicateRootError) Error() string {
	return fmt.Sprintf("mounts %q and %q have the same root %s", e.First.Name, e.Second.Name, e.Second.Written)
}

// New builds a Sandbox. Layers, from weak to strong: the system base and the
// private places; the mounts, of which the most specific decides, and which at
// the same path beat the base; credentials, hidden unless a mount names them;
// denies and sbx's own files, final.
func New(spec Spec) (Sandbox, error) {
	if err := checkMounts(spec); err != nil {
		return Sandbox{}, err
	}
	entries := slices.Clone(spec.Base.Entries)
	for _, m := range spec.Mounts {
		entries = append(entries, m.Entry())
	}
	area := NewArea(entries...)
	area = hideCredentials(area, spec)
	for _, d := range spec.Denies {
		area = cutLiteral(area, d)
	}
	for _, own := range spec.Places.Own {
		area = area.Cut(hiddenEntry(own, Rule{Text: "sbx's own files"}))
	}
	return Sandbox{spec: spec, area: area}, nil
}

func checkMounts(spec Spec) error {
	if spec.Form == RootForm && !slices.ContainsFunc(spec.Mounts, func(m Mount) bool { return m.Name == "/" }) {
		return fmt.Errorf("root form needs a mount named /")
	}
	seen := make(map[string]Mount, len(spec.Mounts))
	for _, m := range spec.Mounts {
		if !IsHostPath(m.Root) {
			return fmt.Errorf("mount %q: root %q is not a canonical host path", m.Name, m.Root)
		}
		if first, ok := seen[m.Root]; ok {
			return &DuplicateRootError{Root: m.Root, First: first, Second: m}
		}
		seen[m.Root] = m
	}
	return nil
}

// hideCredentials masks what the grants cover of the credential paths without
// naming it.
func hideCredentials(area Area, spec Spec) Area {
	home := spec.Places.Home
	if home == "" || area.At(home).Kind != Granted && !anyGrantBelow(area, home) {
		return area
	}
	rule := Rule{Text: "credentials are shown only when granted by name"}
	var hidden []Entry
	for _, c := range credentialPaths {
		p := join(home, c)
		if area.Lists(p) || area.At(p).Kind != Granted {
			continue
		}
		if e := hiddenEntry(p, rule); e.Type != TypeMissing && !area.Lists(e.Path) {
			hidden = append(hidden, e)
		}
	}
	return area.Overlay(hidden...)
}

func anyGrantBelow(area Area, dir string) bool {
	return slices.ContainsFunc(area.Entries(), func(e Entry) bool {
		return e.Kind == Granted && Contains(dir, e.Path)
	})
}

func cutLiteral(area Area, d Deny) Area {
	if p, ok := d.Literal(); ok {
		return area.Cut(hiddenEntry(p, d.Rule))
	}
	return area
}

// hiddenEntry closes what p leads to: a rule that names a link means its
// target. A path that cannot be looked up is closed as written.
func hiddenEntry(p string, rule Rule) Entry {
	r, err := Resolve(p)
	if err != nil {
		r = Resolution{Path: p, Type: TypeUnknown}
	}
	return Entry{Path: r.Path, Kind: Hidden, Type: r.Type, Rule: rule}
}

// Effective returns what the kernel is to enforce for s.
func (s Sandbox) Effective() Effective {
	return Effective{
		Area:      s.area,
		Mounts:    s.spec.Mounts,
		Denies:    s.spec.Denies,
		Links:     append(slices.Clone(s.spec.Base.Links), s.spec.Links...),
		System:    s.spec.Base.System,
		Places:    s.spec.Places,
		Network:   s.spec.Network,
		Env:       s.spec.Env,
		Limits:    s.spec.Limits,
		RequireOS: s.spec.RequireOS,
		Dynamic:   s.spec.Dynamic,
		Sources:   s.spec.Sources,
	}
}

// boundary lists the roots that have the access, as the user wrote them.
func boundary(area Area, mounts []Mount, want Access) []string {
	var names []string
	for _, root := range area.Roots(want) {
		names = append(names, writtenAs(root, mounts))
	}
	return names
}

// writtenAs spells a host path by the mount that holds it: the root as
// written, plus what follows.
func writtenAs(p string, mounts []Mount) string {
	m, ok := mountOf(p, mounts)
	if !ok {
		return p
	}
	written := m.Written
	if rest := strings.TrimPrefix(p[len(m.Root):], "/"); rest != "" {
		return strings.TrimSuffix(written, "/") + "/" + rest
	}
	return written
}

// mountOf returns the most specific mount that holds p.
func mountOf(p string, mounts []Mount) (Mount, bool) {
	best, found := Mount{}, false
	for _, m := range mounts {
		if Contains(m.Root, p) && (!found || len(m.Root) > len(best.Root)) {
			best, found = m, true
		}
	}
	return best, found
}
