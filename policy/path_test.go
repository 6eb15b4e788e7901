package policy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsHostPath(t *testing.T) {
	for p, want := range map[string]bool{
		"/": true, "/a": true, "/a/b": true, "/a\xff": true, "/a b\n": true, `/a\b`: true, "/...": true,
		"": false, "a": false, "./a": false, "/a/": false, "//a": false, "/a//b": false,
		"/.": false, "/..": false, "/a/..": false, "/a/./b": false, "/a\x00": false,
	} {
		assert.Equal(t, want, IsHostPath(p), "%q", p)
	}
}

func TestContains(t *testing.T) {
	for _, tc := range []struct {
		dir, p string
		want   bool
	}{
		{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a", "/a/b/c", true}, {"/", "/", true}, {"/", "/a", true},
		{"/a", "/ab", false}, {"/a", "/", false}, {"/a/b", "/a", false}, {"/a", "/a-b", false}, {"/a", "/A", false},
	} {
		assert.Equal(t, tc.want, Contains(tc.dir, tc.p), "%s in %s", tc.p, tc.dir)
	}
}

func TestParent(t *testing.T) {
	for p, want := range map[string]string{"/": "/", "/a": "/", "/a/b": "/a", "": "/"} {
		assert.Equal(t, want, parent(p), p)
	}
}

// Sorted by ComparePaths, every directory comes right before all that lies
// below it, whatever bytes the names hold.
func TestComparePathsKeepsSubtreesTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		paths := make([]string, 30)
		for i := range paths {
			paths[i] = randomPath(random, "ab-.0\x01\xff", 4)
		}
		slices.SortFunc(paths, ComparePaths)
		for i, dir := range paths {
			inside := true
			for _, p := range paths[i:] {
				if Contains(dir, p) {
					assert.True(t, inside, "%q is apart from %q in %q", p, dir, paths)
				} else {
					inside = false
				}
			}
			for _, p := range paths[:i] {
				assert.True(t, p == dir || !Contains(dir, p), "%q comes before %q", p, dir)
			}
		}
	}
}

func TestComparePathsIsAnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	sign := func(n int) int { return min(1, max(-1, n)) }
	for range 2000 {
		a, b, c := randomPath(random, "a-/.", 3), randomPath(random, "a-/.", 3), randomPath(random, "a-/.", 3)
		assert.Equal(t, a == b, ComparePaths(a, b) == 0)
		assert.Equal(t, sign(ComparePaths(a, b)), -sign(ComparePaths(b, a)))
		if ComparePaths(a, b) < 0 && ComparePaths(b, c) < 0 {
			assert.Negative(t, ComparePaths(a, c), "%q %q %q", a, b, c)
		}
	}
}

// randomPath returns a host path of up to depth short names.
func randomPath(random *rand.Rand, alphabet string, depth int) string {
	var b strings.Builder
	for range random.IntN(depth + 1) {
		b.WriteByte('/')
		for range 1 + random.IntN(2) {
			b.WriteByte(alphabet[random.IntN(len(alphabet))])
		}
	}
	p := b.String()
	if !IsHostPath(p) {
		return "/"
	}
	return p
}
