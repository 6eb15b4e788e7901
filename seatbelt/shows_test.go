package seatbelt

import (
	"testing"

	"github.com/sbx-run/sbx/seatbelt/sbpltest"
	"github.com/stretchr/testify/require"
)

// TestShows: the look-up of commands and the profile give one answer.
func TestShows(t *testing.T) {
	t.Parallel()
	shown, hidden := 0, 0
	for n := range uint64(300) {
		c := generate(n)
		p := compileCase(t, c, standard())
		for _, path := range askedPaths(c) {
			if policyDevice(path) {
				continue // devices are opened one by one, and nothing executes them
			}
			want := p.Decide(fileQuery("file-read-data", path), sbpltest.SStar).Allowed
			require.Equal(t, want, Shows(c.given, c.run, path), "policy %d, %s", n, path)
			if want {
				shown++
			} else {
				hidden++
			}
		}
	}
	require.Positive(t, shown)
	require.Positive(t, hidden)
}

func policyDevice(p string) bool { return len(p) > 5 && p[:5] == "/dev/" }
