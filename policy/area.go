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
func NewArea(entries ...Entry) Area {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b Entry) int { return ComparePaths(a.Path, b.Path) })

	kept := make([]Entry, 0, len(sorted))
	open := []Entry{{Path: "/"}} // the chain of entries that enclose the current one
	for i, e := range sorted {
		if i+1 < len(sorted) && sorted[i+1].Path == e.Path {
			continue
		}
		for len(open) > 1 && !Contains(open[len(open)-1].Path, e.Path) {
			open = open[:len(open)-1]
		}
		if e.sameEffect(open[len(open)-1]) {
			continue
		}
		kept = append(kept, e)
		open = append(open, e)
	}
	return Area{entries: kept, index: indexOf(kept)}
}

func indexOf(entries []Entry) map[string]int32 {
	index := make(map[string]int32, len(entries))
	for i, e := range entries {
		index[e.Path] = int32(i)
	}
	return index
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

// Overlay returns the area in which the entries of top decide where they are
// more specific or equal, and a's where they are.
func (a Area) Overlay(top ...Entry) Area {
	return NewArea(append(slices.Clone(a.entries), top...)...)
}

// Cut returns the area in which e decides for its path and for everything
// below: more specific entries there are dropped.
func (a Area) Cut(e Entry) Area {
	kept := slices.DeleteFunc(slices.Clone(a.entries), func(x Entry) bool {
		return Contains(e.Path, x.Path)
	})
	return NewArea(append(kept, e)...)
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
