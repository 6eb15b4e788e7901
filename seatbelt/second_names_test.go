package seatbelt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt/sbpltest"
	"github.com/stretchr/testify/require"
)

// TestNoSecondNameShowsMore: under no other name of a path, whatever a kernel
// reports, is anything allowed that the path itself does not allow.
func TestNoSecondNameShowsMore(t *testing.T) {
	t.Parallel()
	for n := range uint64(600) {
		c := generate(n)
		found := strayNames(c, compileCase(t, c, standard()), 1)
		require.Empty(t, found, "policy %d", n)
	}
}

// strayNames lists what is allowed under a second name only.
func strayNames(c sample, p *sbpltest.Profile, limit int) (found []disagreement) {
	o := newOracle(c)
	ask := func(op, name string, want bool, why string) {
		if want {
			return
		}
		m := p.Match(fileQuery(op, name), false)
		for i, s := range readings {
			if m.Decide(s).Allowed && !s.FoldCase && (limit == 0 || len(found) < limit) {
				found = append(found, disagreement{i, fmt.Sprintf("%s %q, %s, under %s", op, name, why, s)})
			}
		}
	}
	for _, path := range askedPaths(c) {
		for _, name := range append(otherNames(path), compose(path), decompose(path)) {
			for _, op := range askedOperations {
				ask(op, name, o.wants(op, path), "a name of "+path)
			}
		}
	}
	for _, e := range c.truth.Area.Entries() {
		for _, name := range recased(c.truth.Area, e) {
			for _, op := range []string{"file-write-create", "file-write-data", "file-write-mode"} {
				ask(op, name, false, "a case of "+e.Path)
				ask(op, name+"/below", false, "a case of "+e.Path)
			}
		}
	}
	return found
}

// recased returns the path of a closed place that a command could make itself,
// in other cases of what lies below the surrounding grant, and of directories
// that would have to be made first.
func recased(area policy.Area, e policy.Entry) []string {
	under := area.Above(e.Path)
	absent := e.Type == policy.TypeMissing || e.Type == policy.TypeUnknown
	if !(e.Kind == policy.Protected || absent) || e.Access.Has(policy.Write) || !under.Access.Has(policy.Write) {
		return nil
	}
	rest := e.Path[len(under.Path):]
	names := []string{under.Path + strings.ToUpper(rest), under.Path + strings.ToLower(rest)}
	return slices.DeleteFunc(names, func(p string) bool { return !isASCII(rest) || area.At(p).Path != under.Path })
}
