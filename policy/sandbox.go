package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
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
	Links   []Link   // links crossed by the roots as written
	Guarded []string // canonical paths of existing files that stay read-only in any mount
	Base    Base
	Places  Places
	Network Network
	Sockets Sockets
	Env     Environment
	Limits  Limits

	RequireOS bool     // refuse to run without kernel enforcement
	Dynamic   bool     // grants may be asked for while the command runs
	Protect   Protect  // what happens to protected names that do not exist
	Sources   []string // files and flags the policy came from, for reports
}

// Sandbox is a policy: what a command may see, from which child policies
// derive. It is immutable; its zero value allows nothing.
type Sandbox struct {
	spec     Spec
	base     Area // what there is without any grant, and again where a derivation drops one
	area     Area
	watch    *watch
	narrowed *narrowing
}

// DuplicateRootError reports two mounts of one root. Layers that may repeat a
// root, such as flags over a file, are joined before New sees them.
type DuplicateRootError struct {
	Root          string
	First, Second Mount
}

func (e *DuplicateRootError) Error() string {
	return fmt.Sprintf("mounts %q and %q have the same root %s", e.First.Name, e.Second.Name, e.Second.Written)
}

// New builds a Sandbox. Layers, from weak to strong: the system base and the
// private places; the mounts, of which the most specific decides, and which at
// the same path beat the base; guarded files; secrets, hidden unless a mount
// names them; denies and sbx's own files, final.
func New(spec Spec) (Sandbox, error) {
	if err := checkMounts(spec); err != nil {
		return Sandbox{}, err
	}
	layers := slices.Clone(spec.Base.Entries)
	for _, m := range spec.Mounts {
		layers = append(layers, m.Entry())
	}
	layers = append(layers, spec.Sockets.entries()...)
	base := NewArea(spec.Base.Entries...)
	area := base
	if len(layers) > len(spec.Base.Entries) {
		area = NewArea(layers...)
	}
	for _, layer := range []func(Area, Spec) []Entry{guarded, secrets} {
		if added := layer(area, spec); len(added) > 0 {
			layers = append(layers, added...)
			area = NewArea(layers...)
		}
	}
	spec.Denies = bindAll(spec.Denies, spec.Mounts)
	return Sandbox{spec: spec, base: base, area: area.Cut(closedForGood(spec.Denies, spec.Places.Own)...)}, nil
}

func checkMounts(spec Spec) error {
	roots := make(map[string]Mount, len(spec.Mounts))
	names := make(map[string]Mount, len(spec.Mounts))
	for _, m := range spec.Mounts {
		if !IsHostPath(m.Root) {
			return fmt.Errorf("mount %q: root %q is not a canonical host path", m.Name, m.Root)
		}
		if first, ok := roots[m.Root]; ok {
			return &DuplicateRootError{Root: m.Root, First: first, Second: m}
		}
		if first, ok := names[m.Name]; ok && m.Name != "" {
			return fmt.Errorf("mount name %q stands for %s and for %s", m.Name, first.Written, m.Written)
		}
		roots[m.Root], names[m.Name] = m, m
	}
	if _, ok := names["/"]; ok != (spec.Form == RootForm) {
		return fmt.Errorf("the root form, and no other, has a mount named /")
	}
	return nil
}

// guarded returns the entries that take write access to the guarded paths
// away where a mount gives it.
func guarded(area Area, spec Spec) []Entry {
	rule := Rule{Text: "protected: it decides about later runs"}
	var kept []Entry
	for _, p := range spec.Guarded {
		e := area.At(p)
		if !e.Access.Has(Write) {
			continue
		}
		if _, err := os.Lstat(p); errors.Is(err, fs.ErrNotExist) {
			continue // as for most: what a search would find at a root
		}
		r, err := Resolve(p)
		if err != nil || r.Path != p || r.Type == TypeMissing {
			continue
		}
		closed := Entry{Path: p, Access: e.Access.Meet(Read), Kind: Protected, Type: r.Type, Rule: rule, final: true}
		if closed.Access == None {
			closed.Kind = Hidden // in a drop box
		}
		kept = append(kept, closed)
	}
	return kept
}

func bindAll(denies []Deny, mounts []Mount) []Deny {
	var lookup Lookup
	bound := make([]Deny, len(denies))
	for i, d := range denies {
		bound[i] = d.bind(mounts, &lookup)
	}
	return bound
}

var ownRule = Rule{Text: "sbx's own files"}

// closedForGood returns the entries that no layer reopens: what literal denies
// name, and sbx's own files. The denies are bound. Patterns are matched when a
// question is asked.
func closedForGood(denies []Deny, own []string) []Entry {
	var closed []Entry
	for _, d := range denies {
		if _, ok := d.Literal(); ok {
			closed = append(closed, d.closed)
		}
	}
	var lookup Lookup
	for _, p := range own {
		closed = append(closed, hiddenEntry(&lookup, p, ownRule))
	}
	for i := range closed {
		closed[i].final = true
	}
	return closed
}

// hiddenEntry closes what p leads to: a rule that names a link means its
// target. A path that cannot be looked up is closed as written.
func hiddenEntry(l *Lookup, p string, rule Rule) Entry {
	r, err := l.Resolve(p)
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
		Links:     s.links(),
		System:    s.spec.Base.System,
		Places:    s.spec.Places,
		Network:   s.spec.Network,
		Env:       s.spec.Env,
		Limits:    s.spec.Limits,
		RequireOS: s.spec.RequireOS,
		Dynamic:   s.spec.Dynamic,
		Sockets:   s.spec.Sockets,
		Protect:   s.spec.Protect,
		Sources:   s.spec.Sources,
		guarded:   s.spec.Guarded,
		watch:     s.watch,
		narrowed:  s.narrowed,
	}
}

// links returns the links to show again: those that no place of the host
// shows by itself.
func (s Sandbox) links() []Link {
	var links []Link
	for _, l := range slices.Concat(s.spec.Base.Links, s.spec.Links) {
		if s.area.At(l.Path).Access == None && !slices.Contains(links, l) {
			links = append(links, l)
		}
	}
	return links
}
