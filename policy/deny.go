package policy

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Deny closes everything that matches it, and all that lies below a match,
// for good: no mount, derivation or grant reopens it.
//
// Patterns read as in .gitignore: a name without "/" means that name at any
// depth of every mount; one with "/" counts from the directory of the file
// that holds it; absolute ones are host paths. Globs are doublestar's.
type Deny struct {
	Written string // as the user wrote it
	Rule    Rule
	name    string // pattern for one component; empty if glob is set
	glob    string // absolute pattern for whole paths
	literal string // the one path that glob names, if it is no pattern
}

// ParseDeny reads a pattern as written. dir is the canonical directory that
// relative patterns count from, home the one that "~" stands for.
func ParseDeny(written, dir, home string, rule Rule) (Deny, error) {
	d := Deny{Written: written, Rule: rule}
	p := strings.TrimRight(written, "/")
	switch {
	case p == "":
		return d, fmt.Errorf("empty pattern %q: it would deny everything", written)
	case strings.IndexByte(p, 0) >= 0:
		return d, fmt.Errorf("pattern %q holds a NUL", written)
	case p == "~" || strings.HasPrefix(p, "~/"):
		d.glob = path.Clean(escapeGlob(home) + p[1:])
	case strings.HasPrefix(p, "/"):
		d.glob = path.Clean(p)
	case strings.Contains(p, "/"):
		d.glob = path.Clean(escapeGlob(dir) + "/" + p)
	default:
		d.name = p
	}
	if p == "." || p == ".." || d.glob == "/" {
		return d, fmt.Errorf("pattern %q would deny everything", written)
	}
	if !doublestar.ValidatePattern(p) {
		return d, fmt.Errorf("pattern %q: a bracket or brace is not closed; a backslash before it makes it an ordinary character", written)
	}
	if d.glob != "" && !hasMeta(d.glob) {
		d.literal = unescapeGlob(d.glob)
	}
	return d, nil
}

// Literal returns the one host path that the pattern names, if it is no glob.
func (d Deny) Literal() (string, bool) { return d.literal, d.literal != "" }

// Matches reports whether the host path p itself, not only a directory above
// it, matches. Names match below root alone, the root of the mount that holds
// p; "" is no mount.
func (d Deny) Matches(p, root string) bool {
	if d.name != "" {
		return root != "" && p != root && matchGlob(d.name, path.Base(p))
	}
	return matchGlob(d.glob, p)
}

// covers reports whether p or a directory above it matches.
func (d Deny) covers(p, root string) bool {
	for dir := p; dir != "/"; dir = parent(dir) {
		if d.Matches(dir, root) {
			return true
		}
		if d.name != "" && dir == root {
			return false
		}
	}
	return false
}

func matchGlob(pattern, p string) bool {
	ok, err := doublestar.Match(pattern, p)
	return ok && err == nil
}

const globMeta = `*?[]{}\`

func escapeGlob(p string) string {
	if !strings.ContainsAny(p, globMeta) {
		return p
	}
	var b strings.Builder
	for _, c := range []byte(p) {
		if strings.IndexByte(globMeta, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

func unescapeGlob(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] == '\\' && i+1 < len(p) {
			i++
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// hasMeta reports whether a special character stands without a backslash.
func hasMeta(p string) bool {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}
