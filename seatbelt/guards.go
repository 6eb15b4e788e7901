package seatbelt

import (
	"maps"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// linkNames are looked at as links before what they lead to is.
var linkNames = []string{"/", "/tmp", "/var", "/etc", "/private", "/private/tmp", "/private/var", "/private/etc", "/dev"}

// metadata lets a command look at, not list, what lies above the places it is
// shown: realpath, getcwd and many runtimes do. Links that the policy shows
// can be read.
func metadata(r *renderer) {
	seen := map[string]bool{}
	add := func(paths ...string) {
		for _, p := range paths {
			seen[p] = true
		}
	}
	add(linkNames...)
	for _, root := range r.layout.roots {
		add(ancestors(root)...)
	}
	var filters []string
	for _, p := range r.layout.places {
		switch {
		case p.param != "":
			filters = append(filters, "(path-ancestors "+param(p.param)+")")
		case p.Access != policy.None && !r.closedByPattern(p):
			add(ancestors(p.Path)...)
		}
	}
	for _, l := range r.effective.Links {
		link := l.Path
		if !slices.Contains(rootLinks, link) {
			link = canonical(link)
		}
		add(link)
		add(ancestors(link)...)
	}
	r.heading("ancestors")
	r.allow([]string{"file-read-metadata", "file-test-existence"}, append(literals(slices.Sorted(maps.Keys(seen))), filters...)...)
}

// closedByPattern reports whether a deny covers all of the place, so that the
// way to it need not be seen.
func (r *renderer) closedByPattern(p place) bool {
	return r.effective.Area.At(p.given).Access.Has(p.Access) && !r.effective.Decide(p.Access, p.given).Allowed
}

// pins keeps in place every entry that can be written and every directory
// above an entry: rules follow paths, so whatever is moved leaves its rule
// behind. Only what could be moved needs a pin.
func pins(r *renderer) {
	seen := map[string]bool{}
	var filters []string
	pin := func(p string) {
		if r.layout.area.At(p).Access.Has(policy.Write) {
			for _, name := range r.recipe.names(r.layout, p) {
				seen[name] = true
			}
		}
	}
	for _, p := range r.layout.places {
		if p.param != "" {
			filters = append(filters, "(literal "+param(p.param)+")")
		} else {
			pin(p.Path)
		}
		for _, dir := range ancestors(p.Path) {
			pin(dir)
		}
	}
	for _, dir := range r.patternDirs() {
		pin(dir)
	}
	delete(seen, "/") // nothing can move it
	filters = append(literals(slices.Sorted(maps.Keys(seen))), filters...)
	if len(filters) > 0 {
		r.heading("pins")
		r.deny([]string{"file-write-unlink"}, filters...)
	}
}

// patternDirs are the directories that patterns name outright.
func (r *renderer) patternDirs() []string {
	var dirs []string
	for _, d := range r.effective.Patterns() {
		written := strings.TrimRight(d.Written, "/")
		if home := r.effective.Places.Home; home != "" && strings.HasPrefix(written, "~/") {
			written = escapeGlob(home) + written[1:]
		}
		if strings.HasPrefix(written, "/") {
			dir := fixedPart(canonicalGlob(written))
			dirs = append(dirs, append(ancestors(dir), dir)...)
		}
	}
	return dirs
}

// reservations keep directories from being made above closed places that do
// not exist: a whole tree moved there would bring the place with it.
func reservations(r *renderer) {
	seen := map[string]bool{}
	for _, p := range r.layout.places {
		under := r.layout.above(p.Path)
		if !p.absent() || p.Access.Has(policy.Write) || !under.Access.Has(policy.Write) {
			continue
		}
		for _, dir := range ancestors(p.Path) {
			if dir == under.Path || !policy.Contains(under.Path, dir) {
				continue
			}
			names := r.recipe.names(r.layout, dir)
			for _, f := range append(literals(names), r.layout.inAnyCase(dir, names, false)...) {
				seen[f] = true
			}
		}
	}
	if len(seen) > 0 {
		r.heading("reserved names")
		r.deny([]string{"file-write-create"}, slices.Sorted(maps.Keys(seen))...)
	}
}

// wholeTrees keeps a directory from being cloned: one call copies all that
// lies in it, closed places included.
func wholeTrees(r *renderer) {
	r.heading("directories")
	r.deny([]string{"file-clone"}, "(vnode-type DIRECTORY)")
}

// pinDevices keeps a command that runs as root from changing the devices
// themselves, unless the policy gives it /dev. Terminals stay its own to set
// up.
func pinDevices(r *renderer) {
	if r.layout.area.At("/dev/null").Access.Has(policy.Write) {
		return
	}
	r.heading("device nodes")
	r.deny([]string{"file-write-unlink"}, append(r.writtenDevices(), r.terminals()...)...)
	r.deny([]string{"file-write-mode", "file-write-owner", "file-write-flags", "file-write-acl", "file-write-xattr"},
		r.writtenDevices()...)
}
