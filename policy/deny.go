package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Deny closes everything that matches it, and all that lies below a match,
// for good: no mount, derivation or grant reopens it.
//
// Patterns read as in .gitignore: a name without "/" means that name at any
// depth of every mount; one with "/" counts from the directory of the file
// that holds it; absolute ones are host paths. Globs are doublestar's. They
// match canonical paths: a pattern does not reach through a symbolic link,
// except where its fixed beginning does.
type Deny struct {
	Written string // as the user wrote it
	Rule    Rule
	name    string   // pattern for one component; empty if glob is set
	glob    string   // absolute pattern for whole paths
	literal string   // the one path that glob names, if it is no pattern
	closed  Entry    // for a literal: the place that it closes
	real    string   // for a glob: itself with the links of its fixed beginning followed, if there are any
	scope   []string // for a name: the outermost roots below which it counts, sorted; nil is anywhere
}

// ParseDeny reads a pattern as written. dir is the canonical directory that
// relative patterns count from, home the one that "~" stands for, empty if
// there is none.
func ParseDeny(written, dir, home string, rule Rule) (Deny, error) {
	p := strings.TrimRight(written, "/")
	if err := checkPattern(written, p, home); err != nil {
		return Deny{}, err
	}
	d := Deny{Written: written, Rule: rule}
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		d.glob = path.Clean(escapeGlob(home) + p[1:])
	case strings.HasPrefix(p, "/"):
		d.glob = path.Clean(p)
	case strings.Contains(p, "/"):
		d.glob = path.Clean(escapeGlob(dir) + "/" + p)
	default:
		d.name = p
	}
	if d.glob == "/" {
		return Deny{}, fmt.Errorf("pattern %q would deny everything", written)
	}
	if d.glob != "" && !hasMeta(d.glob) {
		d.literal = unescapeGlob(d.glob)
	}
	return d, nil
}

// checkPattern refuses what would match nothing, or something else than its
// author meant: a deny that fails silently is worse than none.
func checkPattern(written, p, home string) error {
	switch {
	case p == "":
		return fmt.Errorf("empty pattern %q: it would deny everything", written)
	case p == "." || p == "..":
		return fmt.Errorf("pattern %q would deny everything", written)
	case strings.IndexByte(p, 0) >= 0:
		return fmt.Errorf("pattern %q holds a NUL", written)
	case p[0] == '!':
		return fmt.Errorf(`pattern %q: a deny cannot be lifted; write \! for a name that starts with !`, written)
	case p[0] == '~' && strings.Contains(p, "/") && p[1] != '/':
		return fmt.Errorf("pattern %q: only your own home has a ~; write the path", written)
	case (p == "~" || strings.HasPrefix(p, "~/")) && home == "":
		return fmt.Errorf("pattern %q: there is no home that ~ could stand for", written)
	}
	if err := CheckPattern(p); err != nil {
		return fmt.Errorf("pattern %q: %w", written, err)
	}
	wild := false
	for name := range strings.SplitSeq(p, "/") {
		if wild && strings.Contains(name, "..") {
			return fmt.Errorf("pattern %q: .. cannot stand behind a wildcard", written)
		}
		wild = wild || hasMeta(name)
	}
	return nil
}

// Literal returns the one host path that the pattern names, if it is no glob.
func (d Deny) Literal() (string, bool) { return d.literal, d.literal != "" }

// Matches reports whether the host path p itself, not only a directory above
// it, matches.
func (d Deny) Matches(p string) bool {
	if d.name != "" {
		_, inScope := d.scopeOf(p)
		return inScope && matchGlob(d.name, path.Base(p))
	}
	return d.matchesPath(p)
}

// covers reports whether p or a directory above it matches.
func (d Deny) covers(p string) bool {
	top := "/"
	if d.name != "" {
		root, inScope := d.scopeOf(p)
		if !inScope {
			return false
		}
		top = root
	}
	for dir := p; dir != top; dir = parent(dir) {
		if d.name != "" && matchGlob(d.name, path.Base(dir)) || d.name == "" && d.matchesPath(dir) {
			return true
		}
	}
	return false
}

func (d Deny) matchesPath(p string) bool {
	if d.literal != "" {
		return p == d.literal || p == d.closed.Path
	}
	return matchGlob(d.glob, p) || d.real != "" && matchGlob(d.real, p)
}

// scopeOf returns the root below which a name pattern counts for p. The root
// itself is not below: a mount that is named like the pattern stays.
func (d Deny) scopeOf(p string) (root string, ok bool) {
	if d.scope == nil {
		return "/", p != "/"
	}
	i, exact := slices.BinarySearchFunc(d.scope, p, ComparePaths)
	if exact || i == 0 || !Contains(d.scope[i-1], p) {
		return "", false
	}
	return d.scope[i-1], true
}

// bind fixes what the pattern counts from: the mounts of the sandbox that it
// belongs to, and where its fixed beginning leads.
func (d Deny) bind(mounts []Mount, lookup *Lookup) Deny {
	if d.name != "" {
		d.scope = outermostRoots(mounts)
		return d
	}
	if d.literal != "" {
		d.closed = hiddenEntry(lookup, d.literal, d.Rule)
		return d
	}
	base, pattern := doublestar.SplitPattern(d.glob)
	if r, err := lookup.Resolve(base); err == nil && r.Path != base {
		d.real = join(escapeGlob(r.Path), pattern)
	}
	return d
}

// outermostRoots returns the mount roots that lie in no other one, sorted. It
// is never nil.
func outermostRoots(mounts []Mount) []string {
	entries := make([]Entry, len(mounts))
	for i, m := range mounts {
		entries[i] = Entry{Path: m.Root, Access: Read, Kind: Granted}
	}
	roots := NewArea(entries...).Roots(Read)
	if roots == nil {
		return []string{}
	}
	return roots
}
