package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// A file may have several names (hard links), and a rule closes a name. For
// every file that is closed inside a grant, the other names in the grants are
// closed likewise: hidden, or read-only where it is protected. Names outside
// all grants need nothing: no command sees them. The system base is not
// searched: what is linked there, its owner has put there.

// AliasError reports a file that is to be hidden and has further names, some
// of which may lie in a part of a grant that cannot be searched.
type AliasError struct {
	Path   string // the file to hide
	Names  int    // of its names, how many were not found
	Unread string // a directory that could not be searched
}

func (e *AliasError) Error() string {
	return fmt.Sprintf("cannot hide %s: %d of its names (hard links) are not known, and %s cannot be searched for them", e.Path, e.Names, e.Unread)
}

// Hint says how to get rid of the other names.
func (e *AliasError) Hint() string {
	return "deny that directory too, or give the file one name: cp -p FILE NEW && mv NEW FILE"
}

// fileID identifies a file whatever its name.
type fileID struct{ dev, ino uint64 }

// linkedFile is a closed file with more than one name.
type linkedFile struct {
	entry Entry // by which it is closed
	path  string
	names int // known by now
	links int // in all
}

// aliases finds the other names of what entries of the kind, Hidden or
// Protected, close inside grants. unread is a directory that could not be
// searched although names are missing.
type aliases struct {
	area    Area
	granted map[string]bool
	kind    Kind
	want    map[fileID]*linkedFile
	found   []Entry
	unread  string
	left    int
}

// closeAliases returns e with the other names of hidden files hidden.
func (e Effective) closeAliases() (Effective, error) {
	a := e.aliases(Hidden)
	if missing := a.missing(); missing != nil && a.unread != "" {
		return Effective{}, &AliasError{Path: missing.path, Names: missing.links - missing.names, Unread: a.unread}
	}
	e.Area = e.Area.Cut(a.found...)
	return e, nil
}

// protectAliases returns e with the other names of protected files read-only.
// What could not be searched is part of the exposure.
func (e Effective) protectAliases() Effective {
	if e.watch == nil {
		return e
	}
	a := e.aliases(Protected)
	if a.missing() != nil && a.unread != "" {
		w := *e.watch
		w.open.unseen = append(w.open.unseen[:len(w.open.unseen):len(w.open.unseen)], a.unread)
		e.watch = &w
	}
	e.Area = e.Area.Overlay(a.found...)
	return e
}

func (e Effective) aliases(kind Kind) *aliases {
	a := &aliases{area: e.Area, granted: e.writableRoots(), kind: kind, want: map[fileID]*linkedFile{}, left: surveyLimit}
	for _, entry := range e.Area.Entries() {
		if around := e.Area.Above(entry.Path); entry.Kind == kind && around.Access != None && around.Kind != System {
			a.collect(entry.Path, entry)
		}
	}
	if len(a.want) == 0 {
		return a
	}
	for _, entry := range e.Area.Entries() {
		if around := e.Area.Above(entry.Path); isGrant(entry) && !isGrant(around) {
			a.search(entry.Path)
		}
	}
	return a
}

func isGrant(e Entry) bool { return e.Access != None && e.Kind != System }

// collect gathers the files with several names at p and below, as far as
// entry closes them.
func (a *aliases) collect(p string, entry Entry) {
	info, err := os.Lstat(p)
	if err != nil || a.area.At(p).Path != entry.Path {
		return
	}
	if info.IsDir() {
		names, _ := os.ReadDir(p)
		for _, name := range names {
			if a.left--; a.left > 0 && (name.IsDir() || name.Type().IsRegular()) {
				a.collect(join(p, name.Name()), entry)
			}
		}
		return
	}
	id, links, ok := identify(info)
	if !ok || links < 2 {
		return
	}
	if a.want[id] == nil {
		a.want[id] = &linkedFile{entry: entry, path: p, links: links}
	}
	a.want[id].names++
}

// search looks for names of the wanted files at p and below.
func (a *aliases) search(p string) {
	info, err := os.Lstat(p)
	switch {
	case err != nil:
	case info.IsDir():
		a.searchDir(p)
	case info.Mode().IsRegular():
		a.compare(p, info)
	}
}

func (a *aliases) searchDir(dir string) {
	names, err := os.ReadDir(dir)
	a.left -= len(names)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || a.left < 0 {
		a.unread = dir
		return
	}
	for _, name := range names {
		p := join(dir, name.Name())
		switch {
		case !isGrant(a.area.At(p)):
		case name.IsDir():
			a.searchDir(p)
		case name.Type().IsRegular():
			if info, err := name.Info(); err == nil {
				a.compare(p, info)
			}
		}
	}
}

func (a *aliases) compare(p string, info fs.FileInfo) {
	id, links, ok := identify(info)
	if !ok || links < 2 || a.want[id] == nil {
		return
	}
	at, file := a.area.At(p), a.want[id]
	if at.Kind == a.kind {
		return // counted when it was collected
	}
	file.names++
	if a.kind == Protected && (a.granted[p] || !at.Access.Has(Write)) {
		return
	}
	closed := file.entry
	closed.Path, closed.Type, closed.Access = p, TypeFile, closed.Access.Meet(at.Access)
	a.found = append(a.found, closed)
}

// missing returns a file of which not all names are known.
func (a *aliases) missing() *linkedFile {
	var first *linkedFile
	for _, file := range a.want {
		if file.names < file.links && (first == nil || file.path < first.path) {
			first = file
		}
	}
	return first
}
