package seatbelt

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt/sbpltest"
)

// TestRespell writes places as a user might on a volume that ignores case; the
// volume stores them in lower case, and that is what the kernel reports.
func TestRespell(t *testing.T) {
	t.Parallel()
	entry := func(p string, a policy.Access, k policy.Kind) policy.Entry {
		return policy.Entry{Path: p, Access: a, Kind: k, Type: policy.TypeDir, Rule: policy.Rule{Text: p}}
	}
	spell := func(p string) string {
		if strings.EqualFold(p, "/Users") {
			return "/Users"
		}
		return strings.Replace(strings.ToLower(p), "/users/", "/Users/", 1)
	}
	deny, err := policy.ParseDeny("./Secret", "/Users/u/W", "/Users/u", policy.Rule{Text: "deny Secret"})
	require.NoError(t, err)
	e := policy.Effective{
		Area: policy.NewArea(
			entry("/Users/u/W", policy.ReadWrite, policy.Granted),
			entry("/Users/u/W/Secret", policy.None, policy.Hidden),
			entry("/Users/u/w/secret/open", policy.ReadWrite, policy.Granted),
			entry("/Users/u/w/Lib", policy.Read, policy.Granted),
			entry("/Users/u/w/lib", policy.ReadWrite, policy.Granted),
		),
		Denies: []policy.Deny{deny},
		Mounts: []policy.Mount{{Name: "w", Root: "/Users/u/W"}},
		Links:  []policy.Link{{Path: "/Users/u/Link", Target: "w"}},
	}
	r := Respell(e, spell)

	assert.Equal(t, "/Users/u/w", r.Mounts[0].Root)
	assert.Equal(t, "/Users/u/link", r.Links[0].Path)
	assert.Equal(t, "/Users/u/W", e.Mounts[0].Root, "the given policy stays as it is")
	assert.Equal(t, "./Secret", r.Denies[0].Written)
	assert.True(t, r.CanWrite("/Users/u/w/x"))
	assert.False(t, r.CanRead("/Users/u/w/secret/x"))
	assert.False(t, r.CanRead("/Users/u/w/secret/open"), "a deny is final in every spelling")
	assert.True(t, r.CanRead("/Users/u/w/lib/x"))
	assert.False(t, r.CanWrite("/Users/u/w/lib/x"), "of two names for one place the stricter counts")

	given, respelled := compileProfile(t, mustRender(t, e, Run{})), compileProfile(t, mustRender(t, r, Run{}))
	secret := fileQuery("file-read-data", "/Users/u/w/secret/open")
	assert.True(t, given.Decide(secret, sbpltest.SStar).Allowed, "control: as written the deny is inert")
	assert.False(t, respelled.Decide(secret, sbpltest.SStar).Allowed)
}

func TestRespellToTheSame(t *testing.T) {
	t.Parallel()
	for n := range uint64(100) {
		c := generate(n)
		same := Respell(c.given, func(p string) string { return p })
		require.Equal(t, mustRender(t, c.given, c.run), mustRender(t, same, c.run), "policy %d", n)
	}
}
