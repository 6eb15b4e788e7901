package policy

import (
	"errors"
	"io/fs"
	"os"

	"github.com/bmatcuk/doublestar/v4"
)

// Expand looks up what the deny patterns match now and closes it by name, so
// that a backend has places to mask: a pattern alone is nothing that a kernel
// enforces. A match that is a link closes its target too. What is created
// later is not covered; a report has to say so (Patterns).
func (e Effective) Expand() (Effective, error) {
	patterns := e.Patterns()
	if len(patterns) == 0 {
		return e, nil
	}
	s := scan{e: e, patterns: patterns}
	for _, root := range s.roots() {
		if err := s.walk(root); err != nil {
			return e, err
		}
	}
	for _, found := range s.found {
		e.Area = e.Area.Cut(found)
	}
	return e, nil
}

// Patterns returns the denies that are patterns, not single paths.
func (e Effective) Patterns() []Deny {
	var patterns []Deny
	for _, d := range e.Denies {
		if _, literal := d.Literal(); !literal {
			patterns = append(patterns, d)
		}
	}
	return patterns
}

// scan collects the Hidden entries of one walk.
type scan struct {
	e        Effective
	patterns []Deny
	found    []Entry
}

// roots returns where matches can lie: the granted roots, and in the system
// base the fixed part of each absolute pattern.
func (s *scan) roots() []string {
	area := NewArea()
	for _, root := range s.e.Readable() {
		area = area.Overlay(Entry{Path: root, Access: Read, Kind: Granted})
	}
	for _, root := range s.e.Writable() {
		area = area.Overlay(Entry{Path: root, Access: Read, Kind: Granted})
	}
	for _, d := range s.patterns {
		if d.glob == "" {
			continue
		}
		if base, _ := doublestar.SplitPattern(d.glob); s.e.Area.At(base).Kind == System {
			area = area.Overlay(Entry{Path: base, Access: Read, Kind: Granted})
		}
	}
	return area.Roots(Read)
}

// walk visits dir and what lies below it, as far as the sandbox shows it.
func (s *scan) walk(dir string) error {
	names, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrPermission):
		// The owner may open what is closed to us now by chmod, so a
		// directory that cannot be searched is closed as a whole.
		s.close(dir, TypeDir, s.patterns[0].Rule)
		return nil
	case errors.Is(err, fs.ErrNotExist), isNotDir(err):
		return nil
	case err != nil:
		return err
	}
	for _, name := range names {
		p := join(dir, name.Name())
		if d, ok := s.match(p); ok {
			s.closeMatch(p, name.Type(), d)
			continue
		}
		if name.IsDir() && s.e.Area.At(p).Access != None {
			if err := s.walk(p); err != nil {
				return err
			}
		}
	}
	return nil
}

func isNotDir(err error) bool {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return false
	}
	info, statErr := os.Lstat(pe.Path)
	return statErr == nil && !info.IsDir()
}

func (s *scan) match(p string) (Deny, bool) {
	root := s.e.outermostRoot(p)
	for _, d := range s.patterns {
		if d.Matches(p, root) {
			return d, true
		}
	}
	return Deny{}, false
}

func (s *scan) closeMatch(p string, mode fs.FileMode, d Deny) {
	if mode&fs.ModeSymlink == 0 {
		s.close(p, typeOf(mode), d.Rule)
		return
	}
	r, err := Resolve(p)
	if err == nil && r.Type != TypeMissing && s.e.Area.At(r.Path).Access != None {
		s.close(r.Path, r.Type, d.Rule)
	}
}

func (s *scan) close(p string, t FileType, rule Rule) {
	s.found = append(s.found, Entry{Path: p, Kind: Hidden, Type: t, Rule: rule})
}
