//go:build unix

package files

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// maxNear is how many names a message suggests, maxSearched in how many it
// looks for them.
const (
	maxNear     = 3
	maxSearched = 10_000
)

// near returns sandbox paths of readable places that are named like the first
// part of host that does not exist.
func (f Files) near(asked, host string) []string {
	mount, ok := f.view.MountOf(host)
	if !ok {
		return nil
	}
	missing := path.Base(host)
	for parent := path.Dir(host); policy.Contains(mount.Root, parent); parent = path.Dir(parent) {
		if d, err := openDir(parent, mount.Root); err == nil {
			defer d.close()
			return f.alike(asked, parent, missing, d)
		}
		missing = path.Base(parent)
	}
	return nil
}

// alike searches the directory d, which is at parent.
func (f Files) alike(asked, parent, missing string, d dir) []string {
	if !f.view.CanRead(parent) {
		return nil
	}
	entries, err := d.names()
	if err != nil || len(entries) > maxSearched {
		return nil
	}
	type candidate struct {
		name  string
		score float64
	}
	var found []candidate
	for _, e := range entries {
		host := path.Join(parent, e.Name())
		name, ok := f.sandbox.SandboxPath(host)
		if score := likeness(missing, e.Name()); ok && score >= 0.6 && f.view.CanRead(host) {
			if !strings.HasPrefix(asked, "/") {
				name = strings.TrimPrefix(name, "/")
			}
			found = append(found, candidate{name, score})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, c := range found[:min(len(found), maxNear)] {
		names = append(names, policy.Printable(c.name))
	}
	return names
}

// likeness is the share of the longer name that both have in common at the
// start and at the end, whatever the case: 1 for names that differ in nothing
// else.
func likeness(a, b string) float64 {
	a, b = strings.ToLower(a), strings.ToLower(b)
	start, shorter := 0, min(len(a), len(b))
	for start < shorter && a[start] == b[start] {
		start++
	}
	end := 0
	for end < shorter-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return float64(start+end) / float64(max(len(a), len(b), 1))
}
