package config

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// PresetNames returns the names of all presets, sorted.
func PresetNames() []string {
	var names []string
	for _, p := range presets() {
		names = append(names, p.name)
	}
	return names
}

// presetNamed finds a preset.
func presetNamed(name string) (preset, bool) {
	for _, p := range presets() {
		if p.name == name {
			return p, true
		}
	}
	return preset{}, false
}

// unknownPreset words the same refusal for files and flags.
func unknownPreset(name string) *mismatch {
	names := PresetNames()
	fix := didYouMean(name, names)
	if fix == "" {
		fix = "presets are " + strings.Join(names, ", ")
	}
	return &mismatch{"unknown preset " + quote(name), fix}
}

// candidate returns where a path of a preset is for this caller: the first
// source whose variable is set. Of a list such as GOPATH the first entry
// counts, as for the tools.
func (p presetPath) candidate(host Host, own map[string]string) (place string, ok bool) {
	for _, from := range p.from {
		switch {
		case strings.HasPrefix(from, "~/"):
			return join(host.Places.Home, from[2:]), host.Places.Home != ""
		case strings.HasPrefix(from, "$"):
			name, rest, _ := strings.Cut(from[1:], "/")
			value, _ := host.lookup(name)
			if value == "" {
				value = own[name]
			}
			if value == "" {
				continue
			}
			first, _, _ := strings.Cut(value, ":")
			return path.Join(first, rest), true
		default:
			return from, true
		}
	}
	return "", false
}

// grantable refuses what a variable of the caller must not make of a preset:
// a grant of the home or of a directory above, or of a relative path.
func grantable(place, home string) bool {
	return policy.IsHostPath(place) && place != "/" && !policy.Contains(place, home) && !policy.Contains("/proc", place)
}

// addPreset grants what exists of the preset's paths. base is what the
// command sees anyway.
func (b *builder) addPreset(p preset, rule policy.Rule, base policy.Area) {
	own := map[string]string{}
	if p.settings != nil {
		own = p.settings(b.host)
	}
	for _, pp := range p.paths {
		if place, ok := pp.candidate(b.host, own); ok {
			b.addPresetPath(p, pp, place, rule, base)
		}
	}
	for _, name := range p.pass {
		if _, set := b.host.lookup(name); set {
			b.env.pass(name)
		}
	}
	if b.network.Mode == policy.NetworkOff {
		for _, v := range p.offline {
			b.env.set(v.Name, v.Value)
		}
	}
}

// addPresetPath grants one place unless something else shows it: what an
// explicit mount covers is left to that mount, so a preset never narrows.
func (b *builder) addPresetPath(p preset, pp presetPath, place string, rule policy.Rule, base policy.Area) {
	if !strings.HasPrefix(place, "/") {
		return // "off", or a path that means another place in every directory
	}
	if !grantable(place, b.host.Places.Home) {
		b.warn("", "preset %s: %s is too wide: not shown", p.name, show(place))
		return
	}
	r, err := b.lookup.ResolveRoot("/", place, "")
	var linked *policy.LinkedRootError
	switch {
	case errors.As(err, &linked):
		// Who grants the target by name has agreed to where the link leads.
		if b.covers(linked.Target) {
			b.addLinks(r.Links)
			return
		}
		b.warn("--ro "+show(linked.Target)+" would show it", "preset %s: %v: not shown", p.name, err)
	case err != nil || r.Type != policy.TypeDir && r.Type != policy.TypeFile:
	case !grantable(r.Path, b.host.Places.Home):
		b.warn("", "preset %s: %s leads to %s, which is too wide: not shown", p.name, show(place), show(r.Path))
	case b.covers(r.Path) || base.At(r.Path).Kind == policy.System:
		b.addLinks(r.Links)
	case pp.scan && holdsSecret(r.Path):
		b.warn("--ro "+show(r.Path)+" would show it", "preset %s: %s looks as if it held a credential: not shown", p.name, show(place))
	default:
		b.addLinks(r.Links)
		b.mounts = append(b.mounts, policy.Mount{Root: r.Path, Written: place, Type: r.Type, WriteApproval: true, Rule: rule})
	}
}

// covers reports whether a mount made so far holds p.
func (b *builder) covers(p string) bool {
	return slices.ContainsFunc(b.mounts, func(m policy.Mount) bool { return policy.Contains(m.Root, p) })
}

// addLinks keeps the links that lead to a granted path, each once.
func (b *builder) addLinks(links []policy.Link) {
	for _, l := range links {
		if !slices.Contains(b.links, l) {
			b.links = append(b.links, l)
		}
	}
}

// join puts a relative name below dir without cleaning either: a ".." after a
// link must reach the resolver as it is.
func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }
