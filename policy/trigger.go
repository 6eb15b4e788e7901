package policy

import (
	"io/fs"
	"os"
	"path"
	"slices"
)

// Trigger is a place that a command can write to and that some program
// outside acts on by itself.
type Trigger struct {
	Path    string
	Tool    string // who acts on it, and when: a clause without a subject of its own
	Link    string // text of the symbolic link at Path; empty where there is none that could be pinned
	Changed bool   // among those of Made: something was there before
}

// String is what a report says: the path, and why it matters.
func (t Trigger) String() string { return t.Path + ": " + t.Tool }

// Exposure is what the protection of existing places leaves open.
type Exposure struct {
	Absent []Trigger // do not exist, so nothing can be mounted over them
	Loose  []Trigger // symbolic links, which can be replaced unless a backend pins them
	Denied []Trigger // the same where what they lead to is denied
	Unseen []string  // directories that could not be searched
}

// Any reports whether something is left open.
func (x Exposure) Any() bool { return len(x.Absent)+len(x.Loose)+len(x.Denied)+len(x.Unseen) > 0 }

// Placeholder is what stands in for a name that does not exist, so that
// something can be mounted over it. Most are directories, whatever the name
// means: git never lists an empty directory, and rmdir(2) removes one only as
// long as it is empty. In a git directory they are what git can read.
type Placeholder struct {
	Path    string
	Type    FileType
	Content string // of a file
}

// exposure is Exposure before derivations.
type exposure struct {
	ground
	missing, loose []Trigger
	denied         []Trigger // links, as loose, to what is denied
	bare           []bareTop // where more is missing
	hollow         []Trigger // exist, and may be placeholders of another run
	unseen         []string
}

// absent returns all that does not exist.
func (x exposure) absent() []Trigger {
	all := slices.Clone(x.missing)
	for _, top := range x.bare {
		all = append(all, top.absent(x.ground)...)
	}
	return all
}

// watch is what one survey knows, for the report after the run.
type watch struct {
	before snapshot
	gits   map[string]bool
	open   exposure
	links  []Trigger // matched by a deny pattern
}

// snapshot is what was at each trigger at one moment; nil is nothing.
type snapshot map[string]fs.FileInfo

// protect surveys e and returns it with all protected names that exist
// read-only, and with ProtectStrict the others too. links are those that deny
// patterns match.
func (e Effective) protect(links []Trigger) Effective {
	if len(e.Area.Roots(Write)) == 0 && e.watch == nil {
		return e
	}
	s := newSurvey(e).search(e)
	s.deniedLinks(e, links)
	entries := s.found
	if e.Protect == ProtectStrict {
		for _, t := range s.open.absent() {
			if s.writable(t.Path) {
				entries = append(entries, s.entry(t, TypeMissing))
			}
		}
	}
	entries = append(entries, s.grantsInside(entries)...)
	e.Area = e.Area.Overlay(entries...)
	e.watch = &watch{before: s.state, gits: s.gits, open: s.open, links: links}
	return e
}

// grantsInside returns the writable grants that lie below protected places.
// The area may hold no entry of theirs: around them all was writable too.
func (s *survey) grantsInside(protected []Entry) []Entry {
	closed := make(map[string]bool, len(protected))
	for _, e := range protected {
		closed[e.Path] = true
	}
	var inside []Entry
	for root := range s.granted {
		if at := s.area.At(root); at.Access.Has(Write) && listedAtOrAbove(closed, root) {
			at.Path, at.Type = root, TypeUnknown
			if r, err := Resolve(root); err == nil {
				at.Type = r.Type
			}
			inside = append(inside, at)
		}
	}
	return inside
}

// Exposure returns what a command under e can still make or replace, sorted.
func (e Effective) Exposure() Exposure {
	if e.watch == nil {
		return Exposure{}
	}
	var x Exposure
	for _, t := range e.watch.open.absent() {
		if _, blocked := e.placeholder(t); !blocked && e.reaches(t.Path) {
			x.Absent = append(x.Absent, t)
		}
	}
	for _, t := range e.watch.open.loose {
		if e.reaches(t.Path) {
			x.Loose = append(x.Loose, t)
		}
	}
	for _, t := range e.watch.open.denied {
		if e.reaches(t.Path) {
			x.Denied = append(x.Denied, t)
		}
	}
	for _, p := range e.watch.open.unseen {
		if e.reaches(p) {
			x.Unseen = append(x.Unseen, p)
		}
	}
	slices.SortStableFunc(x.Loose, func(a, b Trigger) int { return len(a.Link) - len(b.Link) }) // what cannot be pinned counts
	x.Absent, x.Loose, x.Denied = sorted(x.Absent), sorted(x.Loose), sorted(x.Denied)
	slices.SortFunc(x.Unseen, ComparePaths)
	return x
}

// reaches reports whether the command can write to p or to its directory: a
// name that is closed and does not exist can still be made there.
func (e Effective) reaches(p string) bool {
	return e.Area.At(p).Access.Has(Write) || e.Area.Above(p).Access.Has(Write)
}

// Placeholders returns what has to exist, and go on to, for e to be enforced
// as strictly as it asks, parents first; nothing without ProtectStrict. Among
// them is what exists but may be another run's, which would take it away.
func (e Effective) Placeholders() []Placeholder {
	if e.watch == nil || e.Protect != ProtectStrict {
		return nil
	}
	var all []Placeholder
	for _, t := range sorted(slices.Concat(e.watch.open.absent(), e.watch.open.hollow)) {
		if p, ok := e.placeholder(t); ok {
			all = append(all, p)
		}
	}
	return all
}

// placeholder returns what stands in for t, if e blocks it.
func (e Effective) placeholder(t Trigger) (Placeholder, bool) {
	entry := e.Area.At(t.Path)
	if e.Protect != ProtectStrict || entry.Path != t.Path || entry.Access.Has(Write) || !e.Area.Above(t.Path).Access.Has(Write) {
		return Placeholder{}, false
	}
	return standIn(t.Path, e.watch.gits), true
}

// standIn returns what a placeholder at p has to be.
func standIn(p string, gits map[string]bool) Placeholder {
	s := Placeholder{Path: p, Type: TypeDir}
	if !gits[parent(p)] {
		return s
	}
	switch path.Base(p) {
	case gitCommonDir:
		s.Type, s.Content = TypeFile, ".\n" // the directory itself: what no commondir means
	case gitConfig, gitConfigWorktree:
		s.Type = TypeFile
	}
	return s
}

// Made returns the triggers that exist now and did not when e was expanded,
// and those that were changed meanwhile. It looks at the host again.
func (e Effective) Made() []Trigger {
	if e.watch == nil {
		return nil
	}
	now := newSurvey(e)
	now.present = true
	now.search(e)
	now.deniedLinks(e, e.watch.links)
	var made []Trigger
	for _, t := range now.seen {
		was, is := e.watch.before[t.Path], now.state[t.Path]
		switch {
		case is == nil, was != nil && unchanged(was, is), !e.reaches(t.Path):
			continue
		}
		t.Changed = was != nil
		if dir := parent(t.Path); now.gits[dir] && !e.watch.gits[dir] {
			t = Trigger{Path: dir, Tool: dotGitName.tool} // all of it is new: once is enough
		}
		made = append(made, t)
	}
	return sorted(made)
}

func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// sorted orders triggers by path, each once.
func sorted(triggers []Trigger) []Trigger {
	slices.SortStableFunc(triggers, func(a, b Trigger) int { return ComparePaths(a.Path, b.Path) })
	return slices.CompactFunc(triggers, func(a, b Trigger) bool { return a.Path == b.Path })
}
