package seatbelt

import (
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// entries emits the policy's places from shallow to deep, so that the deepest
// that holds a path is the last to match it.
func entries(r *renderer) {
	r.heading("policy")
	places := slices.Clone(r.layout.places)
	slices.SortStableFunc(places, r.recipe.order)
	for _, p := range places {
		r.entry(p)
	}
}

// entry emits one place: what its access allows, then what it denies.
func (r *renderer) entry(p place) {
	if p.Access == policy.None && !p.final && !r.layout.reaches(p.Path) {
		return // closed by default
	}
	c := r.recipe.classes[p.Access]
	r.allow(c.allow, p.filter())
	r.deny(c.deny, r.closing(p)...)
	switch {
	case p.param != "":
		if r.effective.Sockets.Own {
			r.allow(socketOperations, p.filter())
		}
	case p.Access.Has(policy.Read) && slices.Contains(r.effective.Sockets.Paths, p.given):
		r.allow([]string{"network-outbound"}, literal(p.Path))
	case p.Path == "/dev" && p.Kind == policy.Private:
		r.ownDevices() // the rule above closed the host's
	}
}

// filter covers the place and everything below it.
func (p place) filter() string {
	if p.param != "" {
		return "(subpath " + param(p.param) + ")"
	}
	return subpath(p.Path)
}

// closing covers the place under every name that is within reach.
func (r *renderer) closing(p place) []string {
	names := r.recipe.names(r.layout, p.Path)
	filters := subpaths(names)
	if r.recipe.plantable(r.layout, p) {
		filters = append(filters, r.layout.inAnyCase(p.Path, names, true)...)
	}
	return filters
}

// plantable reports whether a command could make the closed place p itself, in
// a spelling of its choice, where other programs would then look for it.
func (l layout) plantable(p place) bool {
	return (p.Kind == policy.Protected || p.absent()) && !p.Access.Has(policy.Write) && l.above(p.Path).Access.Has(policy.Write)
}

// inAnyCase covers the names of p in every case. The part that the surrounding
// grant names exists, and keeps its case.
func (l layout) inAnyCase(p string, names []string, below bool) []string {
	under := l.above(p).Path
	var filters []string
	for _, name := range names {
		dir := "/"
		switch {
		case strings.HasPrefix(name, dataVolume+"/"):
			dir = dataVolume + "/"
		case policy.Contains(under, name):
			dir = under
		}
		filters = append(filters, regex(anyCase(dir, name[len(dir):], below)))
	}
	return filters
}
