package seatbelt

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// place is one entry of the policy, or one directory of the run, under its
// canonical name.
type place struct {
	policy.Entry
	given string // Path as the policy has it
	param string // the parameter that holds Path; "" if Path is written out
	final bool   // closed by a deny
}

// absent reports that nothing may be there yet. What could not be looked up is
// treated alike.
func (p place) absent() bool {
	return p.Type == policy.TypeMissing || p.Type == policy.TypeUnknown
}

// layout is all that the entries of a profile depend on.
type layout struct {
	places []place // by depth, then path
	area   policy.Area
	roots  []string // of the system base, to see what a closed place closes
	root   bool     // "/" itself is granted
}

// newLayout brings the policy's entries to their canonical names.
func newLayout(e policy.Effective, run Run) (layout, error) {
	byPath := map[string]place{}
	for _, entry := range e.Area.Entries() {
		p := place{Entry: entry, given: entry.Path}
		if err := checkPath(entry.Path, entry.Rule); err != nil {
			return layout{}, err
		}
		if p.Path = canonical(entry.Path); p.Path == "/" && p.Access == policy.None {
			continue // nothing granted, which is the default and closes no base
		}
		if err := checkGrant(p); err != nil {
			return layout{}, err
		}
		if other, ok := byPath[p.Path]; ok {
			p = stricter(p, other)
		}
		byPath[p.Path] = p
	}
	if err := addDenies(byPath, e.Denies); err != nil {
		return layout{}, err
	}
	for i, dir := range run.Private {
		dir = canonical(dir)
		byPath[dir] = place{
			Entry: policy.Entry{Path: dir, Access: policy.ReadWrite, Kind: policy.Private, Type: policy.TypeDir},
			param: paramName(i),
		}
	}
	closeVolumes(byPath)
	return arrange(byPath, baseRoots(e, run)), nil
}

// addDenies adds the paths that the policy closes by name. Those in places that
// are closed anyway are no entries of an area; but the base of this renderer
// may show what the policy's does not.
func addDenies(byPath map[string]place, denies []policy.Deny) error {
	for _, d := range denies {
		p, ok := d.Literal()
		if !ok {
			continue
		}
		if err := checkPath(p, d.Rule); err != nil {
			return err
		}
		p = canonical(p)
		maps.DeleteFunc(byPath, func(below string, _ place) bool {
			return below != p && policy.Contains(p, below)
		})
		entry := policy.Entry{Path: p, Kind: policy.Hidden, Type: policy.TypeFile, Rule: d.Rule}
		if other, listed := byPath[p]; listed && other.Kind == policy.Hidden {
			entry = other.Entry // knows the type
		}
		byPath[p] = place{Entry: entry, final: true}
	}
	return nil
}

// checkGrant refuses what cannot be given: the volumes' own directory, as a
// data volume under that name would show places that the policy hides, and a
// root directory that cannot be read, as no program would start.
func checkGrant(p place) error {
	switch {
	case p.Access == policy.None:
		return nil
	case p.Path == "/" && !p.Access.Has(policy.Read):
		return &UnsupportedError{Needs: "write-only access to /", Rule: p.Rule, Fix: "grant a directory below it"}
	case policy.Contains(volumes, p.Path) && !policy.Contains(cryptexes, p.Path):
		return &UnsupportedError{Needs: "a grant of " + p.Path, Rule: p.Rule, Fix: "name the directory without " + dataVolume}
	}
	return nil
}

// closeVolumes closes the second names of everything where a grant above them
// does not mean them: --ro /System shows no homes.
func closeVolumes(byPath map[string]place) {
	for _, p := range byPath {
		if p.Path == "/" || p.Access == policy.None || !policy.Contains(p.Path, volumes) {
			continue
		}
		rule := policy.Rule{Text: "volumes are reached by their own names"}
		if _, listed := byPath[volumes]; !listed {
			byPath[volumes] = place{Entry: policy.Entry{Path: volumes, Kind: policy.Hidden, Type: policy.TypeDir, Rule: rule}}
		}
		if _, listed := byPath[cryptexes]; !listed && p.Access.Has(policy.Read) {
			byPath[cryptexes] = place{Entry: policy.Entry{Path: cryptexes, Access: policy.Read, Kind: policy.System, Type: policy.TypeDir, Rule: rule}}
		}
		return
	}
}

// rank orders kinds by who decides where two names of one place are listed: a
// deny is final, a grant beats the base, the base beats private places.
var rank = [...]int{policy.Private: 0, policy.System: 1, policy.Granted: 2, policy.Protected: 3, policy.Hidden: 4}

// stricter settles which of two entries for one place counts.
func stricter(a, b place) place {
	if rank[a.Kind] < rank[b.Kind] {
		a, b = b, a
	}
	if rank[a.Kind] == rank[b.Kind] {
		a.Access = a.Access.Meet(b.Access)
	}
	return a
}

// arrange sorts the places and drops those that change nothing now that they
// have one name, as policy.NewArea does. A deny stays: it closes the base.
func arrange(byPath map[string]place, roots []string) layout {
	l := layout{roots: roots}
	entries := make([]policy.Entry, 0, len(byPath))
	for _, p := range byPath {
		l.places = append(l.places, p)
		entries = append(entries, p.Entry)
	}
	l.area = policy.NewArea(entries...)
	l.places = slices.DeleteFunc(l.places, func(p place) bool { return !p.final && !l.area.Lists(p.Path) })
	slices.SortFunc(l.places, shallowFirst)
	l.root = l.area.At("/").Access != policy.None
	return l
}

// shallowFirst orders by depth, then path. Depth first keeps a deeper place
// behind a shallower one even where the two differ in case alone.
func shallowFirst(a, b place) int {
	return cmp.Or(cmp.Compare(depth(a.Path), depth(b.Path)), strings.Compare(a.Path, b.Path))
}

func depth(p string) int {
	if p == "/" {
		return 0
	}
	return strings.Count(p, "/")
}

// above returns the access around p: what would hold if p were not listed.
func (l layout) above(p string) policy.Entry { return l.area.Above(p) }

// reaches reports whether anything at or around p is shown, so that closing p
// takes a rule. Below it there may be more places; they come later.
func (l layout) reaches(p string) bool {
	if l.above(p).Access != policy.None || p != "/dev" && policy.Contains("/dev", p) {
		return true
	}
	return slices.ContainsFunc(l.roots, func(r string) bool {
		return policy.Contains(r, p) || policy.Contains(p, r)
	})
}

// names returns the spellings under which a deny of p has to be written, p
// first. A name that no grant covers is closed by default and left out.
func (l layout) names(p string) []string {
	names := []string{p}
	if under, ok := l.outermost(p); ok {
		names = spellings(p, under)
	}
	if l.root {
		for _, name := range slices.Clone(names) {
			names = append(names, otherNames(name)...)
		}
	}
	return names
}

// outermost returns the widest place around p that is shown. Below it a name
// can be met in another spelling; its own path is the one that its rule has.
func (l layout) outermost(p string) (string, bool) {
	for _, dir := range ancestors(p) {
		if l.area.At(dir).Access != policy.None || slices.Contains(l.roots, dir) {
			return dir, true
		}
	}
	return "", false
}

// ancestors returns the directories above p, "/" first.
func ancestors(p string) []string {
	var dirs []string
	for i, c := range []byte(p) {
		if c == '/' && i+1 < len(p) {
			dirs = append(dirs, p[:max(i, 1)])
		}
	}
	return dirs
}
