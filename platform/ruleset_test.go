package platform

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/policy"
)

func granted(p string, a policy.Access) policy.Entry {
	return policy.Entry{Path: p, Access: a, Kind: policy.Granted, Type: policy.TypeDir}
}

func accessOf(r landlock.Ruleset) map[string]landlock.Access {
	m := map[string]landlock.Access{}
	for _, g := range r.Grants {
		m[g.Path] |= g.Access
	}
	return m
}

func TestLayerGrantsWritesPlaceByPlace(t *testing.T) {
	e := policy.Effective{Area: policy.NewArea(
		granted("/w", policy.ReadWrite), granted("/w/ro", policy.Read), granted("/r", policy.Read))}
	layout, err := bwrap.NewLayout(e)
	require.NoError(t, err)
	access := accessOf(layerRuleset(e, layout))
	assert.Equal(t, landlock.Read, access["/"])
	assert.Equal(t, landlock.Write, access["/w"])
	assert.Zero(t, access["/r"], "nothing to add to the root's reading")
}

func TestLayerMakesDropBoxes(t *testing.T) {
	e := policy.Effective{Area: policy.NewArea(granted("/in", policy.Write), granted("/r", policy.Read))}
	layout, err := bwrap.NewLayout(e)
	require.NoError(t, err)
	access := accessOf(layerRuleset(e, layout))
	assert.Zero(t, access["/"], "reading the root would read the drop box")
	assert.Equal(t, landlock.Write, access["/in"])
	assert.Equal(t, landlock.Read, access["/r"])
}

func TestLayerLeavesDynamicMountsPossible(t *testing.T) {
	e := policy.Effective{Dynamic: true, Area: policy.NewArea(granted("/w", policy.ReadWrite))}
	layout, err := bwrap.NewLayout(e)
	require.NoError(t, err)
	r := layerRuleset(e, layout)
	assert.False(t, r.Files)
	assert.Equal(t, scopes, r.Scope)
}

// TestBuiltinSaysWhatItCannotExpress: Landlock grants add up, so whatever is
// narrower than its surroundings is listed, and nothing else is.
func TestBuiltinSaysWhatItCannotExpress(t *testing.T) {
	hidden := func(p string) policy.Entry {
		return policy.Entry{Path: p, Kind: policy.Hidden, Type: policy.TypeFile}
	}
	private := policy.Entry{Path: "/tmp", Kind: policy.Private, Type: policy.TypeDir}
	for _, row := range []struct {
		name    string
		entries []policy.Entry
		missing int
	}{
		{"plain grants", []policy.Entry{granted("/w", policy.ReadWrite), granted("/r", policy.Read)}, 0},
		{"wider inside narrower", []policy.Entry{granted("/r", policy.Read), granted("/r/w", policy.ReadWrite)}, 0},
		{"narrower inside wider", []policy.Entry{granted("/w", policy.ReadWrite), granted("/w/r", policy.Read)}, 1},
		{"a deny inside a grant", []policy.Entry{granted("/w", policy.ReadWrite), hidden("/w/.env")}, 1},
		{"a deny outside", []policy.Entry{granted("/w", policy.ReadWrite), hidden("/x")}, 0},
		{"a drop box", []policy.Entry{granted("/in", policy.Write)}, 0},
		{"private /tmp outside", []policy.Entry{private, granted("/tmp/w", policy.ReadWrite)}, 0},
		{"private /tmp inside a grant", []policy.Entry{granted("/", policy.Read), private}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, missing := builtinRuleset(policy.Effective{Area: policy.NewArea(row.entries...)}, 7)
			assert.Len(t, missing, row.missing)
		})
	}
}
