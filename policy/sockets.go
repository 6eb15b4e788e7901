package policy

import "slices"

// Sockets says what a command may do with unix sockets. The zero value is
// nothing: it cannot even make one (socketpair(2) aside).
type Sockets struct {
	Own   bool     // it may make, bind and connect its own
	Paths []string // canonical paths of host sockets that it may connect to
	Rule  Rule
}

// Any reports whether a command may make unix sockets at all.
func (s Sockets) Any() bool { return s.Own || len(s.Paths) > 0 }

// Meet returns what both allow.
func (s Sockets) Meet(t Sockets) Sockets {
	s.Own = s.Any() && t.Any() && (s.Own || t.Own)
	s.Paths = slices.DeleteFunc(slices.Clone(s.Paths), func(p string) bool { return !slices.Contains(t.Paths, p) })
	return s
}

// entries shows the sockets. Connecting asks for no more than their names: a
// read-only mount does not stand in its way.
func (s Sockets) entries() []Entry {
	entries := make([]Entry, len(s.Paths))
	for i, p := range s.Paths {
		entries[i] = Entry{Path: p, Access: Read, Kind: Granted, Type: TypeSocket, Rule: s.Rule}
	}
	return entries
}
