package policy

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// Expand looks up what the deny patterns match now and closes it by name, so
// that a backend has places to mask: a pattern alone is nothing that a kernel
// enforces. A match that is a link closes its target too. What is created
// later is not covered; a report has to say so (Patterns). It reads every
// directory that the sandbox shows and a pattern may match in.
func (e Effective) Expand() (Effective, error) {
	found, links, err := findDenied(e)
	if err != nil {
		return Effective{}, err
	}
	e.Area = e.Area.Cut(found...)
	if e, err = e.closeAliases(); err != nil {
		return Effective{}, err
	}
	return e.protect(links).protectAliases(), nil
}

// Expand returns the sandbox in which all that deny patterns match now is
// closed by name, as Effective.Expand does. Only then do answers about the
// target of a link that a pattern matches agree with the kernel's. Derived
// sandboxes keep what has been found.
func (s Sandbox) Expand() (Sandbox, error) {
	e, err := s.Effective().Expand()
	if err != nil {
		return Sandbox{}, err
	}
	s.area, s.watch = e.Area, e.watch
	return s, nil
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

// findDenied returns an entry for each place that a pattern closes, and the
// links by which it found some.
func findDenied(e Effective) ([]Entry, []Trigger, error) {
	s := scan{e: e, patterns: e.Patterns()}
	if len(s.patterns) == 0 {
		return nil, nil, nil
	}
	for _, root := range s.roots() {
		if d, ok := e.deniedBy(root.Path); ok {
			s.close(root.Path, root.Type, d.Rule)
			continue
		}
		if err := s.walk(root.Path); err != nil {
			return nil, nil, err
		}
	}
	return s.found, s.links, nil
}

// scan collects the Hidden entries of one walk.
type scan struct {
	e        Effective
	patterns []Deny
	found    []Entry
	links    []Trigger
}

// roots returns where walks begin: wherever access to files of the host
// begins, as far as a pattern reaches.
func (s *scan) roots() []Entry {
	var roots []Entry
	for _, e := range s.e.Area.Entries() {
		above := s.e.Area.Above(e.Path)
		if e.Access != None && (above.Access == None || (above.Kind == System) != (e.Kind == System)) {
			roots = append(roots, s.reached(e)...)
		}
	}
	return roots
}

// reached narrows the place of e to the parts that a pattern may match in.
// Names count below mounts alone, absolute patterns in the system base too.
func (s *scan) reached(e Entry) []Entry {
	var starts []Entry
	for _, d := range s.patterns {
		if d.name != "" {
			if e.Kind != System {
				return []Entry{e}
			}
			continue
		}
		for _, glob := range []string{d.glob, d.real} {
			base, _ := doublestar.SplitPattern(glob)
			if Contains(base, e.Path) {
				return []Entry{e}
			}
			if r, err := Resolve(base); Contains(e.Path, base) && err == nil && r.Path == base {
				starts = append(starts, Entry{Path: base, Type: r.Type})
			}
		}
	}
	return starts
}

// walk visits what lies below dir, as far as the sandbox shows it.
func (s *scan) walk(dir string) error {
	names, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrPermission):
		// The owner may open by chmod what is closed to us now, so a
		// directory that cannot be searched is closed as a whole.
		s.close(dir, TypeDir, s.patterns[0].Rule)
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
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

func (s *scan) match(p string) (Deny, bool) {
	for _, d := range s.patterns {
		if d.Matches(p) {
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
	for _, l := range r.Links {
		s.links = append(s.links, deniedTrigger(l, d.Rule))
	}
	if err == nil && r.Type != TypeMissing && s.e.Area.At(r.Path).Access != None {
		s.close(r.Path, r.Type, d.Rule)
	}
}

func (s *scan) close(p string, t FileType, rule Rule) {
	s.found = append(s.found, Entry{Path: p, Kind: Hidden, Type: t, Rule: rule, final: true})
}
