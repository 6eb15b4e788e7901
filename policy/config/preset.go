package config

import (
	"errors"
	"path"
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

func presetNamed(name string) (preset, bool) {
	for _, p := range presets() {
		if p.name == name {
			return p, true
		}
	}
	return preset{}, false
}

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
func (p presetPath) candidate(host Host) (place string, ok bool) {
	for _, from := range p.from {
		switch {
		case strings.HasPrefix(from, "~/"):
			return join(host.Places.Home, from[2:]), host.Places.Home != ""
		case strings.HasPrefix(from, "$"):
			name, rest, _ := strings.Cut(from[1:], "/")
			value, set := host.lookup(name)
			if !set || value == "" {
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
	return policy.IsHostPath(place) && !policy.Contains(place, home) && !policy.Contains("/proc", place)
}

// addPreset grants what exists of the preset's paths. What an explicit mount
// covers is left to that mount: a preset never narrows.
func (b *builder) addPreset(p preset, rule policy.Rule) {
	for _, pp := range p.paths {
		place, ok := pp.candidate(b.host)
		if !ok {
			continue
		}
		if !grantable(place, b.host.Places.Home) {
			b.warn("", "preset %s: %s is too wide or no absolute path: not shown", p.name, place)
			continue
		}
		r, err := policy.ResolveRoot("/", place, "")
		var linked *policy.LinkedRootError
		switch {
		case errors.As(err, &linked):
			b.warn("--ro "+policy.ShellQuote(linked.Target)+" would show it", "preset %s: %v: not shown", p.name, err)
			continue
		case err != nil || r.Type == policy.TypeMissing || r.Type == policy.TypeUnknown || r.Type == policy.TypeSocket:
			continue
		case pp.scan && holdsSecret(r.Path):
			b.warn("--ro "+policy.ShellQuote(r.Path)+" would show it", "preset %s: %s looks as if it held a credential: not shown", p.name, place)
			continue
		}
		if b.covers(r.Path) {
			continue
		}
		b.links = append(b.links, r.Links...)
		b.mounts = append(b.mounts, policy.Mount{Root: r.Path, Written: place, Type: r.Type, WriteApproval: true, Rule: rule})
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

// covers reports whether a mount made so far holds p.
func (b *builder) covers(p string) bool {
	for _, m := range b.mounts {
		if policy.Contains(m.Root, p) {
			return true
		}
	}
	return false
}

func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }
