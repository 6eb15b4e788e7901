package seatbelt

import (
	"path"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// patterns emits what the policy denies by pattern, behind all entries: a deny
// is final. Unlike matches found at the start, these rules also close what is
// created later.
func patterns(r *renderer) {
	var filters []string
	for _, d := range r.effective.Patterns() {
		filters = append(filters, r.patternFilters(d)...)
	}
	slices.Sort(filters)
	slices.SortFunc(r.partial, func(a, b policy.Deny) int { return strings.Compare(a.Written, b.Written) })
	if len(filters) > 0 {
		r.heading("denied patterns")
		r.deny(everyOperation(), slices.Compact(filters)...)
	}
}

// patternFilters translates one pattern, or notes that it is only covered as
// far as matches were found.
func (r *renderer) patternFilters(d policy.Deny) []string {
	var filters []string
	for _, expression := range r.expressions(d) {
		if checkText(expression) != "" {
			filters = nil
			break
		}
		for _, form := range []string{expression, compose(expression), decompose(expression)} {
			if f := regex("^" + form + "(/.*)?$"); !slices.Contains(filters, f) {
				filters = append(filters, f)
			}
		}
	}
	if len(filters) == 0 {
		r.partial = append(r.partial, d)
	}
	return filters
}

// expressions returns the pattern for whole paths, one per mount for a name
// that counts at any depth of every mount. It is empty for a pattern that has
// no exact expression, or whose directory the policy does not tell.
func (r *renderer) expressions(d policy.Deny) []string {
	written := strings.TrimRight(d.Written, "/")
	switch {
	case strings.HasPrefix(written, "/"):
		return translated(canonicalGlob(path.Clean(written)))
	case strings.HasPrefix(written, "~/") && r.effective.Places.Home != "":
		return translated(canonicalGlob(path.Clean(escapeGlob(r.effective.Places.Home) + written[1:])))
	case strings.Contains(written, "/"):
		return nil
	}
	name, ok := glob(written)
	if !ok {
		return nil
	}
	var all []string
	for _, root := range outermostRoots(r.effective.Mounts) {
		all = append(all, strings.TrimSuffix(escape(root), "/")+"/(.*/)?"+name)
	}
	return all
}

// translated returns the expression for a pattern of whole paths.
func translated(pattern string) []string {
	if expression, ok := glob(pattern); ok {
		return []string{expression}
	}
	return nil
}

// canonicalGlob renames a pattern whose first directory is a root link.
func canonicalGlob(pattern string) string {
	for _, link := range rootLinks {
		if strings.HasPrefix(pattern, link+"/") {
			return "/private" + pattern
		}
	}
	return strings.TrimPrefix(pattern, dataVolume)
}

// escapeGlob writes a path so that a pattern matches it alone.
func escapeGlob(p string) string {
	var b strings.Builder
	for i := range len(p) {
		if strings.IndexByte(`*?[]{}\`, p[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// outermostRoots returns the canonical roots that lie in no other root.
func outermostRoots(mounts []policy.Mount) []string {
	var roots []string
	for _, m := range mounts {
		roots = append(roots, canonical(m.Root))
	}
	slices.Sort(roots)
	roots = slices.Compact(roots)
	return slices.DeleteFunc(slices.Clone(roots), func(p string) bool {
		return slices.ContainsFunc(roots, func(dir string) bool { return dir != p && policy.Contains(dir, p) })
	})
}

// fixedPart returns the directories of an absolute pattern before its first
// special character: moving one would move matches out of the pattern.
func fixedPart(pattern string) string {
	i := strings.IndexAny(pattern, `*?[{\`)
	if i < 0 {
		return pattern
	}
	return path.Dir(pattern[:i] + "x")
}
