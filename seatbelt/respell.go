package seatbelt

import (
	"slices"

	"github.com/sbx-run/sbx/policy"
)

// Respell returns e with every path in the spelling that spell gives. A volume
// finds a name in any case and any Unicode form, and rules are compared with
// the spelling that it stores, so a rule for "./SRC" would be inert where the
// directory is called "src". spell is asked for absolute clean paths, those of
// the system base and places that do not exist included.
func Respell(e policy.Effective, spell func(p string) string) policy.Effective {
	area := respellArea(e.Area, spell)
	e.Mounts = slices.Clone(e.Mounts)
	for i := range e.Mounts {
		e.Mounts[i].Root = spell(e.Mounts[i].Root)
	}
	e.Links = slices.Clone(e.Links)
	for i := range e.Links {
		e.Links[i].Path = spell(e.Links[i].Path)
	}
	e.Sockets.Paths = slices.Clone(e.Sockets.Paths)
	for i, p := range e.Sockets.Paths {
		e.Sockets.Paths[i] = spell(p)
	}
	e.Denies = slices.Clone(e.Denies)
	for i, d := range e.Denies {
		p, ok := d.Literal()
		if !ok {
			continue
		}
		e.Denies[i] = respellDeny(d, spell(p), e.Places.Home)
		if e.Area.Lists(p) { // final also for what had another spelling
			closed := e.Area.At(p)
			closed.Path = spell(p)
			area = area.Cut(closed)
		}
	}
	e.Area = area
	return e
}

// respellArea names every entry anew. Of two that turn out to be one place the
// stricter counts.
func respellArea(area policy.Area, spell func(p string) string) policy.Area {
	byPath := map[string]place{}
	for _, entry := range area.Entries() {
		p := place{Entry: entry}
		p.Path = spell(entry.Path)
		if other, ok := byPath[p.Path]; ok {
			p = stricter(p, other)
		}
		byPath[p.Path] = p
	}
	entries := make([]policy.Entry, 0, len(byPath))
	for _, p := range byPath {
		entries = append(entries, p.Entry)
	}
	return policy.NewArea(entries...)
}

// respellDeny closes p instead, in the words of d.
func respellDeny(d policy.Deny, p, home string) policy.Deny {
	respelled, err := policy.ParseDeny(escapeGlob(p), "/", home, d.Rule)
	if err != nil {
		return d // the spelling of a path that was accepted before
	}
	respelled.Written = d.Written
	return respelled
}
