package config

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// A command that may write to a directory can leave an sbx.yaml there, which
// the next search from below finds before the policy that counted until then.
// So a file that nobody named or trusted does not replace that one: its denies
// and limits go on to count. What cannot be added like that is a reason to
// stop until the user trusts the file, which then stands alone.

// hidden is a policy that a nearer file hides.
type hidden struct {
	*Source
	config *Config
	fault  error // instead of both
}

// hiddenBy returns what the search would have found without s, nearest first,
// and what it would have found without that; nothing if s stands alone. The
// first that stands alone is the last.
func hiddenBy(s *Source, flags Flags, host Host) (all []hidden) {
	for at := s; at != nil && at.Discovered && !host.trusted(at.Path, at.SHA256); {
		next, err := nearest(at.dir, rank(at)+1, host)
		if next == nil && err == nil {
			next, err = last(flags, host)
		}
		if next != nil && next.owner != "" && !host.trusted(next.Path, next.SHA256) {
			at = next // would not count either
			continue
		}
		h := hidden{Source: next, fault: err}
		if err == nil && next != nil {
			h.config, h.fault = (&builder{}).grantText(next)
		}
		if next != nil || err != nil {
			all = append(all, h)
		}
		at = next
	}
	return all
}

// Hides names the policies whose bounds end where s stands alone: what the
// search from its directory would have found without it.
func (s Source) Hides(host Host) (names []string) {
	if rank(&s) == len(discovered) {
		return nil // is not found
	}
	s.Discovered, host.Trusted = true, nil
	for _, h := range hiddenBy(&s, Flags{}, host) {
		if h.fault == nil && (h.config.Sandbox != nil || h.config.Workspace != nil) {
			names = append(names, h.Name)
		}
	}
	return names
}

// rank is the place of a found file's name in the order of the search.
func rank(s *Source) int {
	for i, d := range discovered {
		if d.name == path.Base(s.Path) {
			return i
		}
	}
	return len(discovered)
}

// keep adds the bounds of hidden policies to those of the file.
func (b *builder) keep(all []hidden, src *Source, c *Config, flags Flags) {
	for _, h := range all {
		if h.fault != nil {
			first, _, _ := strings.Cut(h.fault.Error(), "\n")
			b.lose("to hide a faulty policy, which is to be mended first (" + first + ")")
			continue
		}
		b.keepWorker(h, src, flags)
		b.keepAttachments(h, c)
		if h.config.Sandbox == nil && h.config.Workspace == nil {
			continue
		}
		b.kept = append(b.kept, h)
		b.keepPlaces(h, src)
		b.keepPresets(h, c)
		if s := h.config.Sandbox; s != nil {
			b.keepBounds(h, s, src)
		}
	}
}

// keepPresets stops at presets that the hidden policy does without: they show
// places outside of the directory. The user's own file is no policy of the
// project, so there is nothing to compare with.
func (b *builder) keepPresets(h hidden, c *Config) {
	if h.Kind == User || c == nil || c.Sandbox == nil {
		return
	}
	var theirs []string
	if h.config.Sandbox != nil {
		theirs = values(h.config.Sandbox.Presets)
	}
	for _, name := range values(c.Sandbox.Presets) {
		if !slices.Contains(theirs, name) {
			b.lose("preset " + name + ", which " + show(h.Name) + " does without")
		}
	}
}

// lose records what only a file that stands alone may take away.
func (b *builder) lose(what string) { b.lost = append(b.lost, Need{What: what}) }

// keepBounds adds what simply adds up.
func (b *builder) keepBounds(h hidden, s *Sandbox, src *Source) {
	for _, v := range s.Deny {
		b.deny(origin{file: h.Name, at: v.Pos, text: "deny " + quote(v.V), dir: h.dir}, v.V)
	}
	met := b.limits.Meet(s.Limits.Limits)
	for _, cut := range cutLimits(b.limits, met) {
		b.warn("if it may count alone: sbx trust "+show(src.Name), "%s: limit %s, because of %s", show(src.Name), cut, show(h.Name))
	}
	b.limits = met
	b.protect = max(b.protect, policy.Protect(s.Protect.V))
	if s.System.V == policy.NoSystem {
		b.system = policy.NoSystem
	}
}

// keepPlaces compares the grants. A found file may grant its directory, and
// what the hidden policy says of single places in there would be lost.
func (b *builder) keepPlaces(h hidden, src *Source) {
	shown := b.placesOf(h)
	for _, p := range shown {
		if !policy.Contains(src.grants(), p.root) && !policy.Contains(p.root, src.grants()) {
			continue
		}
		for _, m := range b.mounts {
			inside := (p.single || p.root != src.grants()) && policy.Contains(src.grants(), p.root)
			if inside && p.mode == policy.ReadOnly && m.Mode == policy.ReadAndWrite && b.decides(m, p.root) {
				b.lose("to write " + show(p.written) + ", which " + show(h.Name) + " shows read-only")
			}
			if p.ruled() && (policy.Contains(m.Root, p.root) || policy.Contains(p.root, m.Root)) && !p.rules(m) {
				b.lose("to drop the rules of " + show(h.Name) + " for the files in " + show(p.written))
			}
		}
	}
	if h.dir != src.dir || h.Kind == User {
		return
	}
	for _, m := range b.mounts { // the directory has a policy already
		if !slices.ContainsFunc(shown, func(p place) bool { return policy.Contains(p.root, m.Root) && p.mode >= m.Mode }) {
			b.lose(m.Rule.Text + ", beside " + show(h.Name))
		}
	}
}

// decides reports whether m is the mount that p belongs to, or lies below it.
func (b *builder) decides(m policy.Mount, p string) bool {
	if !policy.Contains(m.Root, p) {
		return policy.Contains(p, m.Root)
	}
	return !slices.ContainsFunc(b.mounts, func(n policy.Mount) bool {
		return n.Root != m.Root && policy.Contains(m.Root, n.Root) && policy.Contains(n.Root, p)
	})
}

// place is what a hidden policy shows somewhere.
type place struct {
	Mount
	root, written string // canonical, and as in the file
	single        bool   // one of several, named on its own
	mode          policy.Mode
}

// ruled reports whether single files of the place are bound by rules.
func (p place) ruled() bool {
	return len(p.Suffixes) > 0 || p.MaxFileBytes.V > 0 || p.ReadApproval.V
}

// rules reports whether m has the rules of the place, or stricter ones.
func (p place) rules(m policy.Mount) bool {
	suffixes := values(p.Suffixes)
	within := len(suffixes) == 0 || len(m.Suffixes) > 0 &&
		!slices.ContainsFunc(m.Suffixes, func(s string) bool { return !slices.Contains(suffixes, s) })
	return within && (p.MaxFileBytes.V == 0 || m.MaxFileBytes > 0 && m.MaxFileBytes <= p.MaxFileBytes.V) && (!p.ReadApproval.V || m.ReadApproval)
}

// placesOf resolves the places that a hidden policy shows. What is not there
// has nothing to lose.
func (b *builder) placesOf(h hidden) (all []place) {
	add := func(m Mount, mode policy.Mode, single bool) {
		p, bad := expandHome(m.Root.V, b.host.Places.Home)
		if bad != nil {
			return
		}
		if !path.IsAbs(p) {
			p = join(h.dir, p)
		}
		if r, err := policy.Resolve(p); err == nil && r.Type != policy.TypeMissing {
			all = append(all, place{Mount: m, root: r.Path, written: m.Root.V, mode: mode, single: single})
		}
	}
	if s := h.config.Sandbox; s != nil {
		if s.Root != nil {
			add(*s.Root, s.Root.access(s), false)
		}
		for _, m := range s.Paths {
			add(m, m.access(s), true)
		}
	}
	if w := h.config.Workspace; w != nil && w.Enabled.Or(true) {
		for _, r := range w.Allow {
			add(Mount{Root: r.Path}, r.Mode.V, false)
		}
	}
	return all
}

// keepWorker guards the narrowing that a worker's name stands for.
func (b *builder) keepWorker(h hidden, src *Source, flags Flags) {
	if flags.Worker == "" || namesFile(flags.Worker) {
		return
	}
	has := slices.ContainsFunc(h.config.Workers.List, func(w Worker) bool { return w.Name == flags.Worker })
	for _, dir := range workerDirs {
		if h.dir == src.dir {
			break // the same file for both
		}
		if _, err := os.Lstat(path.Join(h.dir, dir, flags.Worker+workerSuffix)); err == nil {
			has = true
		}
	}
	if has {
		b.lose("a worker " + show(flags.Worker) + " other than that of " + show(h.Name))
	}
}

// keepAttachments keeps the bounds of what a caller hands on, where the file
// has none itself.
func (b *builder) keepAttachments(h hidden, c *Config) {
	switch theirs := h.config.Attachments; {
	case theirs == nil || c == nil:
	case c.Attachments == nil:
		c.Attachments = theirs
	default:
		b.lose("attachments other than those of " + show(h.Name))
	}
}
