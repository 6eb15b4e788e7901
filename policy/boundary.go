package policy

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// mountTable finds the mount that holds a path.
type mountTable struct {
	mounts []Mount
	byRoot map[string]int
}

func tableOf(mounts []Mount) mountTable {
	t := mountTable{mounts: mounts, byRoot: make(map[string]int, len(mounts))}
	for i, m := range mounts {
		t.byRoot[m.Root] = i
	}
	return t
}

// holding returns the position of the most specific mount that holds p and
// counts, or len(t.mounts) if none does.
func (t mountTable) holding(p string, counts func(Mount) bool) int {
	for dir := p; ; dir = parent(dir) {
		if i, ok := t.byRoot[dir]; ok && counts(t.mounts[i]) {
			return i
		}
		if dir == "/" {
			return len(t.mounts)
		}
	}
}

func anyMount(Mount) bool { return true }

func hasName(m Mount) bool { return m.Name != "" }

// spelling writes a host path for a reader. It is false for a path that the
// reader cannot name.
type spelling func(t mountTable, p string) (string, bool)

// boundary lists the roots at which access begins, in the order of the mounts
// that they belong to. What spell cannot name is left out.
func boundary(area Area, mounts []Mount, want Access, spell spelling) []string {
	t := tableOf(mounts)
	roots := area.Roots(want)
	slices.SortStableFunc(roots, func(a, b string) int {
		return cmp.Compare(t.holding(a, anyMount), t.holding(b, anyMount))
	})
	names := make([]string, 0, len(roots))
	for _, root := range roots {
		if name, ok := spell(t, root); ok {
			names = append(names, name)
		}
	}
	return names
}

// asWritten spells a host path by the mount that holds it: the root as the
// user wrote it, plus what follows.
func asWritten(t mountTable, p string) (string, bool) {
	i := t.holding(p, anyMount)
	if i == len(t.mounts) {
		return p, true
	}
	m := t.mounts[i]
	return joinWritten(m.Written, relativeTo(m.Root, p)), true
}

// asSandboxPath spells a host path the way sandbox paths do, by the most
// specific mount with a name.
func asSandboxPath(t mountTable, p string) (string, bool) {
	i := t.holding(p, hasName)
	if i == len(t.mounts) {
		return "", false
	}
	m := t.mounts[i]
	return joinWritten(m.Name, relativeTo(m.Root, p)), true
}

// asAskable spells a host path as the user wrote it where that is a sandbox
// path too ("./docs" for the mount docs), and as a sandbox path elsewhere, so
// that whoever reads a refusal can ask for what it lists.
func asAskable(t mountTable, p string) (string, bool) {
	i := t.holding(p, hasName)
	if i == len(t.mounts) {
		return "", false
	}
	m := t.mounts[i]
	name := m.Name
	if path.Clean(m.Written) == m.Name {
		name = m.Written
	}
	return joinWritten(name, relativeTo(m.Root, p)), true
}

// relativeTo returns what of p follows dir, which contains it.
func relativeTo(dir, p string) string { return strings.TrimPrefix(p[len(dir):], "/") }

func joinWritten(dir, rest string) string {
	if rest == "" {
		return dir
	}
	return strings.TrimSuffix(dir, "/") + "/" + rest
}

// mountOf returns the most specific mount that holds p.
func mountOf(p string, mounts []Mount) (Mount, bool) {
	best := -1
	for i := range mounts {
		if Contains(mounts[i].Root, p) && (best < 0 || len(mounts[i].Root) > len(mounts[best].Root)) {
			best = i
		}
	}
	if best < 0 {
		return Mount{}, false
	}
	return mounts[best], true
}
