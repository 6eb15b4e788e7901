package seatbelt

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt/sbpltest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGlobTranslation: where a pattern translates, the expression matches the
// paths that the pattern matches, and no others.
func TestGlobTranslation(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", "b", "ab", ".x", "*", "**", "?", "[ab]", "[a-c]", "{a,b}", "{a*,?b}", "a.b", "+", "(x)", `\*`, "é", "^", "$"}
	names := []string{"a", "b", "ab", "c", ".x", "a.b", "axb", "+", "(x)", "*", "é", "aab", "^", "$", "abb"}
	rng := rand.New(rand.NewPCG(1, 2))
	translatedCount := 0
	for range 400 {
		var pattern strings.Builder
		for range 1 + rng.IntN(4) {
			pattern.WriteByte('/')
			for range 1 + rng.IntN(2) {
				pattern.WriteString(pieces[rng.IntN(len(pieces))])
			}
		}
		if !doublestar.ValidatePattern(pattern.String()) {
			continue
		}
		expression, ok := glob(pattern.String())
		if !ok {
			continue
		}
		translatedCount++
		p := matcher(t, expression)
		for range 60 {
			var path strings.Builder
			for range 1 + rng.IntN(4) {
				path.WriteString("/" + names[rng.IntN(len(names))])
			}
			want, err := doublestar.Match(pattern.String(), path.String())
			require.NoError(t, err)
			assert.Equal(t, want, p(path.String()), "pattern %q (%s), path %q", pattern.String(), expression, path.String())
		}
	}
	assert.Greater(t, translatedCount, 150)
}

// matcher compiles ^expression$ in a profile.
func matcher(t *testing.T, expression string) func(path string) bool {
	t.Helper()
	p, err := sbpltest.Compile("(version 1)(deny default)(allow file-read-data "+regex("^"+expression+"$")+")", nil)
	require.NoError(t, err, expression)
	return func(path string) bool {
		return p.Decide(sbpltest.Query{Op: "file-read-data", Path: path}, sbpltest.SStar).Allowed
	}
}

func TestGlobsWithoutExpression(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"/a/[^b]", "/a/[!b]", "/[]a]", "/[é]", "/a**b", "/{a,**}", "/a{b,}", "/a{}", `/[\]]`, "/**", "/a[", "/***/b"} {
		_, ok := glob(pattern)
		assert.False(t, ok, pattern)
	}
}

// TestPatternsAgree: what the policy denies by pattern, existing or not, the
// profile denies, and nothing else.
func TestPatternsAgree(t *testing.T) {
	t.Parallel()
	patterns := []string{".env", "*.pem", "secret*", "id_[rd]sa", "{.aws,.ssh}", "~/w/**/*.key", "/Users/u/w/conf/*.yml", "/Users/u/w/logs/**", "~/other/?x"}
	names := []string{".env", "x.pem", "secret1", "id_rsa", "id_xsa", ".aws", "a.key", "conf", "a.yml", "logs", "sub", "ax", "plain"}
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 150 {
		spec := policy.Spec{Places: policy.Places{Home: "/Users/u"}, Mounts: []policy.Mount{
			{Name: "ww", Root: "/Users/u/w", Mode: policy.ReadAndWrite, Type: policy.TypeDir},
			{Name: "in", Root: "/Users/u/w/sub", Mode: policy.ReadOnly, Type: policy.TypeDir},
			{Name: "ot", Root: "/Users/u/other", Mode: policy.ReadOnly, Type: policy.TypeDir},
		}}
		for range 1 + rng.IntN(3) {
			d, err := policy.ParseDeny(patterns[rng.IntN(len(patterns))], "/Users/u", "/Users/u", policy.Rule{Text: "deny"})
			require.NoError(t, err)
			spec.Denies = append(spec.Denies, d)
		}
		s, err := policy.New(spec)
		require.NoError(t, err)
		e := s.Effective()
		rendered, err := Render(e, Run{})
		require.NoError(t, err)
		require.Empty(t, rendered.Partial)
		p := compileProfile(t, rendered)
		require.Empty(t, p.Lint())
		for range 60 {
			path := []string{"/Users/u/w", "/Users/u/other"}[rng.IntN(2)]
			for range 1 + rng.IntN(3) {
				path += "/" + names[rng.IntN(len(names))]
			}
			for _, r := range sbpltest.Readings() {
				read := p.Decide(fileQuery("file-read-data", path), r)
				assert.Equal(t, e.CanRead(path), read.Allowed, "%d: read %s under %s, line %d, %v", n, path, r, read.Line, e.Denies)
				write := p.Decide(fileQuery("file-write-data", path), r)
				assert.Equal(t, e.CanWrite(path), write.Allowed, "%d: write %s under %s, line %d", n, path, r, write.Line)
			}
		}
	}
}

func TestPatternDirectoriesArePinned(t *testing.T) {
	t.Parallel()
	e := grants(t, "/Users/u/w/conf/prod/*.pem")
	p := compileProfile(t, mustRender(t, e, Run{}))
	for _, dir := range []string{"/Users/u/w", "/Users/u/w/conf", "/Users/u/w/conf/prod"} {
		assert.False(t, p.Decide(fileQuery("file-write-unlink", dir), sbpltest.SStar).Allowed, dir)
	}
	assert.True(t, p.Decide(fileQuery("file-write-unlink", "/Users/u/w/conf/prod/plain"), sbpltest.SStar).Allowed)
}

func TestPartialPatterns(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		written string
		partial bool
	}{
		{"*.pem", false}, {"/Users/u/w/*.pem", false}, {"/tmp/*.pem", false},
		{"[^a]*", true},       // no exact expression
		{"a\nb*", true},       // no text for a profile
		{"keys/*.pem", true},  // counts from a directory that only the policy knows
		{"./keys/*.pe", true}, // likewise
	} {
		rendered := mustRender(t, grants(t, tc.written), Run{})
		if !tc.partial {
			assert.Empty(t, rendered.Partial, tc.written)
			assert.Contains(t, rendered.Text, "; denied patterns")
			continue
		}
		require.Len(t, rendered.Partial, 1, tc.written)
		assert.Equal(t, tc.written, rendered.Partial[0].Written)
	}
}

// grants is a policy with one writable mount and denies.
func grants(t *testing.T, denies ...string) policy.Effective {
	t.Helper()
	spec := policy.Spec{Places: policy.Places{Home: "/Users/u"}, Mounts: []policy.Mount{
		{Name: "ww", Root: "/Users/u/w", Mode: policy.ReadAndWrite, Type: policy.TypeDir, Rule: policy.Rule{Text: "--rw w"}},
	}}
	for i, written := range denies {
		d, err := policy.ParseDeny(written, "/Users/u", "/Users/u", policy.Rule{File: "sbx.yaml", Line: i + 1, Text: "deny: " + written})
		require.NoError(t, err)
		spec.Denies = append(spec.Denies, d)
	}
	s, err := policy.New(spec)
	require.NoError(t, err)
	return s.Effective()
}

func mustRender(t *testing.T, e policy.Effective, run Run) Profile {
	t.Helper()
	p, err := Render(e, run)
	require.NoError(t, err, fmt.Sprint(e.Area.Entries()))
	return p
}
