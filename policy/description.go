package policy

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Description is what a sandbox says about itself to a command inside, so
// that a sandbox within it can explain what it cannot give. It enforces
// nothing: the kernel holds the outer walls, whatever a description says.
type Description struct {
	Version int              `json:"version"`
	Depth   int              `json:"depth"` // 1 for a sandbox that is in no other
	Backend string           `json:"backend"`
	Entries []DescribedEntry `json:"entries"`
	Links   []DescribedLink  `json:"links,omitempty"`
	Network NetworkMode      `json:"network"`
	Hosts   []string         `json:"hosts,omitempty"` // of an allow-list
	Limits  Limits           `json:"limits,omitzero"`
	System  SystemBase       `json:"system"`

	// Private are the places that the sandbox has of its own and lets the
	// command write: its home and temporary directory.
	Private []DescribedPath `json:"private,omitempty"`
}

// DescribedEntry is one Entry of an Area.
type DescribedEntry struct {
	Path   DescribedPath `json:"path"`
	Access Access        `json:"access"`
	Kind   Kind          `json:"kind"`
	Type   FileType      `json:"type"`
	Rule   string        `json:"rule,omitempty"`
}

// DescribedLink is one Link.
type DescribedLink struct {
	Path   DescribedPath `json:"path"`
	Target DescribedPath `json:"target"`
}

// DescribedPath is a path, whose bytes survive JSON: one that is no UTF-8 is
// quoted as in Go.
type DescribedPath string

// MarshalText quotes what JSON would replace.
func (p DescribedPath) MarshalText() ([]byte, error) {
	s := string(p)
	if !utf8.ValidString(s) || strings.HasPrefix(s, `"`) {
		s = strconv.Quote(s)
	}
	return []byte(s), nil
}

// UnmarshalText reads what MarshalText writes.
func (p *DescribedPath) UnmarshalText(text []byte) error {
	s := string(text)
	if strings.HasPrefix(s, `"`) {
		plain, err := strconv.Unquote(s)
		if err != nil {
			return err
		}
		s = plain
	}
	*p = DescribedPath(s)
	return nil
}

// descriptionVersion changes when an older reader would misunderstand.
const descriptionVersion = 1

// Describe returns what e says about itself. depth counts the sandboxes
// around it, backend names what enforces it.
func (e Effective) Describe(depth int, backend string) Description {
	d := Description{
		Version: descriptionVersion, Depth: depth, Backend: backend,
		Network: e.Network.Mode, Hosts: hostTexts(e.Network.Allow), Limits: e.Limits, System: e.System,
	}
	for _, entry := range e.Area.Entries() {
		d.Entries = append(d.Entries, DescribedEntry{DescribedPath(entry.Path), entry.Access, entry.Kind, entry.Type, entry.Rule.String()})
	}
	for _, l := range e.Links {
		d.Links = append(d.Links, DescribedLink{DescribedPath(l.Path), DescribedPath(l.Target)})
	}
	return d
}

// Readable reports whether this version can make sense of d.
func (d Description) Readable() bool { return d.Version == descriptionVersion && len(d.Entries) > 0 }

// WithPrivate returns d with the places that a command inside found to be its
// own. Where a description names any, the other private places are closed: a
// backend without namespaces cannot replace /tmp, it gives another directory.
func (d Description) WithPrivate(places ...string) Description {
	d.Private = nil
	for _, p := range places {
		if IsHostPath(p) && p != "/" {
			d.Private = append(d.Private, DescribedPath(p))
		}
	}
	return d
}

// entries returns the area as seen from inside: what is private to the outer
// sandbox is an ordinary writable directory to the inner one.
func (d Description) entries() []Entry {
	var all []Entry
	for _, described := range d.Entries {
		e := Entry{
			Path: string(described.Path), Access: described.Access.Meet(ReadWrite), Kind: min(described.Kind, Private),
			Type: described.Type, Rule: Rule{Text: described.Rule},
		}
		if !IsHostPath(e.Path) {
			continue
		}
		if e.Kind == Private && e.Path != "/dev" && e.Path != "/proc" {
			if len(d.Private) > 0 {
				e.Kind = Hidden
			} else {
				e.Kind, e.Access, e.Rule = Granted, ReadWrite, privateRule
			}
		}
		all = append(all, e)
	}
	for _, p := range d.Private {
		all = append(all, Entry{Path: string(p), Access: ReadWrite, Kind: Granted, Type: TypeDir, Rule: privateRule})
	}
	return all
}

var privateRule = Rule{Text: "private to the outer sandbox"}

// OfOuter reports whether the place is one that the outer sandbox made for
// itself: what the host has there is not visible inside.
func (e Entry) OfOuter() bool { return e.Rule == privateRule }

func (d Description) network() Network {
	n := Network{Mode: min(d.Network, NetworkOn), Rule: Rule{Text: "outer sandbox"}}
	for _, text := range d.Hosts {
		if h, err := ParseHostRule(text); err == nil {
			n.Allow = append(n.Allow, h)
		}
	}
	return n
}
