package policy

import "slices"

// Kind says what a command finds at a place of the sandbox.
type Kind uint8

// The kinds of places. All but Granted and Protected belong to the sandbox
// itself and are not narrowed by derivation.
const (
	Hidden    Kind = iota // nothing of the host: absent, or masked as empty
	System                // the host's file, read-only: part of the system base
	Granted               // the host's file with the access of a mount
	Protected             // existing file inside a writable mount that stays read-only
	Private               // the sandbox's own, thrown away at the end: home, /tmp, /dev, /proc
)

var kindNames = [...]string{"hidden", "system", "granted", "protected", "private"}

// String names the kind.
func (k Kind) String() string { return kindNames[k] }

// FileType is what the host had at a path when it was resolved.
type FileType uint8

// The types that backends tell apart. The launcher checks them again on the
// descriptor that it opens: a type recorded here is never trusted.
const (
	TypeUnknown FileType = iota
	TypeDir
	TypeFile // anything that is neither directory nor socket
	TypeSocket
	TypeMissing
)

// Entry gives the access to Path and to everything below it, up to the next
// more specific entry.
type Entry struct {
	Path   string
	Access Access // to the host's file; None for Hidden and Private
	Kind   Kind
	Type   FileType
	Rule   Rule

	final bool // no grant reopens it
}

// sameEffect reports whether e needs no entry of its own below up. A private
// place inside another still does: somebody has to make it.
func (e Entry) sameEffect(up Entry) bool {
	return e.Access == up.Access && e.Kind == up.Kind && e.Kind != Private
}

// Area maps every absolute host path to an Entry: the most specific listed
// path decides, by whole components, and the unlisted rest is Hidden with no
// access. An Area is immutable; its zero value allows nothing.
type Area struct {
	entries []Entry          // in ComparePaths order: parents before children
	index   map[string]int32 // path -> position in entries
}

// NewArea builds an Area. Of several entries with one path the last counts.
// Entries that change nothing against the enclosing one are dropped, so equal
// areas have equal entries. Paths must be host paths (IsHostPath).
func NewArea(entries ...Entry) Area { return areaOf(slices.Clone(entries)) }

// areaOf is NewArea for entries that nobody else holds: it sorts them in place.
func areaOf(sorted []Entry) Area {
	slices.SortStableFunc(sorted, func(a, b Entry) int { return ComparePaths(a.Path, b.Path) })

	b := areaBuilder{kept: make([]Entry, 0, len(sorted))}
	for i, e := range sorted {
		if i+1 == len(sorted) || sorted[i+1].Path != e.Path {
			b.add(e)
		}
	}
	return b.area()
}

// areaBuilder brings entries that come in ComparePaths order into the normal
// form of an Area.
type areaBuilder struct {
	kept []Entry
	open chain
}

func (b *areaBuilder) add(e Entry) {
	if !e.sameEffect(b.open.around(e.Path)) {
		b.kept = append(b.kept, e)
		b.open = append(b.open, e)
	}
}

func (b *areaBuilder) area() Area {
	index := make(map[string]int32, len(b.kept))
	for i, e := range b.kept {
		index[e.Path] = int32(i)
	}
	return Area{entries: b.kept, index: index}
}

// chain holds the entries that enclose the current place of a walk in
// ComparePaths order, outermost first.
type chain []Entry

// around leaves the entries that do not hold p and returns the innermost that
// does.
func (c *chain) around(p string) Entry {
	for len(*c) > 0 && !Contains((*c)[len(*c)-1].Path, p) {
		*c = (*c)[:len(*c)-1]
	}
	if len(*c) == 0 {
		return Entry{Path: "/"}
	}
	return (*c)[len(*c)-1]
}

// At returns the entry that decides for the host path p: the listed path with
// the most components that contains p. Where none does, it is the zero entry
// with Path "/". It allocates nothing.
func (a Area) At(p string) Entry {
	for dir := p; ; dir = parent(dir) {
		if i, ok := a.index[dir]; ok {
			return a.entries[i]
		}
		if dir == "/" || dir == "" {
			return Entry{Path: "/"}
		}
	}
}

// Above returns the entry that would decide for p if p were not listed.
func (a Area) Above(p string) Entry {
	if p == "/" {
		return Entry{Path: "/"}
	}
	return a.At(parent(p))
}

// Lists reports whether p itself is an entry.
func (a Area) Lists(p string) bool {
	_, ok := a.index[p]
	return ok
}

// Entries returns the entries, parents before children. The caller must not
// change them.
func (a Area) Entries() []Entry { return a.entries }

// Overlay returns the area in which for every path the more specific of a's
// and top's entries decides, and top's where both are equal. An entry that
// NewArea has dropped from a is no longer there to be more specific: layers
// belong into one NewArea.
func (a Area) Overlay(top ...Entry) Area {
	return areaOf(slices.Concat(a.entries, top))
}

// Cut returns the area in which each of tops decides for its path and for
// everything below: a's more specific entries there are dropped.
func (a Area) Cut(tops ...Entry) Area {
	if len(tops) == 0 {
		return a
	}
	cut := make(map[string]bool, len(tops))
	for _, e := range tops {
		cut[e.Path] = true
	}
	all := make([]Entry, 0, len(a.entries)+len(tops))
	for _, e := range a.entries {
		if !listedAtOrAbove(cut, e.Path) {
			all = append(all, e)
		}
	}
	return areaOf(append(all, tops...))
}

func listedAtOrAbove(paths map[string]bool, p string) bool {
	for dir := p; ; dir = parent(dir) {
		if paths[dir] {
			return true
		}
		if dir == "/" {
			return false
		}
	}
}

// Roots returns the paths at which access a begins: every entry that has it
// while the enclosing one has not. They are sorted, and none contains another
// unless a place without the access lies between.
func (a Area) Roots(want Access) []string {
	var roots []string
	for _, e := range a.entries {
		if e.Kind != System && e.Access.Has(want) && !grants(a.Above(e.Path), want) {
			roots = append(roots, e.Path)
		}
	}
	return roots
}

func grants(e Entry, want Access) bool { return e.Kind != System && e.Access.Has(want) }

// below returns the entries at dir and under it.
func (a Area) below(dir string) []Entry {
	first, _ := slices.BinarySearchFunc(a.entries, dir, func(e Entry, p string) int { return ComparePaths(e.Path, p) })
	rest := a.entries[first:]
	for i, e := range rest {
		if !Contains(dir, e.Path) {
			return rest[:i]
		}
	}
	return rest
}

// pointwise returns the area that maps every path p to
// join(At(a1, p), At(a2, p), ...). It takes one pass over all entries.
func pointwise(join func(at []Entry) Entry, areas ...Area) Area {
	var b areaBuilder
	next := make([]int, len(areas))
	open := make([]chain, len(areas))
	at := make([]Entry, len(areas))
	for p, more := "/", true; more; p, more = nextPath(areas, next) {
		var t FileType
		made := false // p is a private place of its own, not inside one
		for i, a := range areas {
			at[i] = open[i].around(p)
			if k := next[i]; k < len(a.entries) && a.entries[k].Path == p {
				at[i] = a.entries[k]
				open[i] = append(open[i], at[i])
				next[i]++
				made = made || at[i].Kind == Private
				if t == TypeUnknown {
					t = at[i].Type
				}
			}
		}
		e := join(at)
		e.Path, e.Type = p, t
		if e.Kind == Private && !made && b.open.around(p).Kind == Private {
			continue
		}
		b.add(e)
	}
	return b.area()
}

// nextPath returns the smallest path that areas list at or after next.
func nextPath(areas []Area, next []int) (p string, ok bool) {
	for i, a := range areas {
		if next[i] < len(a.entries) && (!ok || ComparePaths(a.entries[next[i]].Path, p) < 0) {
			p, ok = a.entries[next[i]].Path, true
		}
	}
	return p, ok
}
