package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
)

func TestNear(t *testing.T) {
	names := []string{"network", "readonly", "root", "paths", "presets", "memory", "go", "node"}
	for got, want := range map[string]string{
		"netwrok": "network", "netwok": "network", "Network": "network", "nework": "network", "networks": "network",
		"rot": "root", "roto": "root", "path": "paths", "preset": "presets", "read_only": "readonly", "readOnly": "readonly",
		"golang": "go", "nodejs": "node", "mem": "memory",
		"": "", "x": "", "frobnicate": "", "zzzz": "",
	} {
		assert.Equal(t, want, near(got, names), got)
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1},
	} {
		assert.Equal(t, tt.want, distance(tt.a, tt.b), "%s %s", tt.a, tt.b)
		assert.Equal(t, tt.want, distance(tt.b, tt.a), "%s %s", tt.b, tt.a)
	}
}

func TestLineHoldsSecret(t *testing.T) {
	for line, want := range map[string]bool{
		"[user]":                                        false,
		"  name = a person":                             false,
		"  helper = store":                              false,
		"[url \"git@github.com:\"]":                     false,
		"[url \"ssh://git@github.com/\"]":               false,
		"  insteadof = https://github.com/":             false,
		"  proxy = http://proxy.example:8080":           false,
		"[url \"https://x@github.com/\"]":               true,
		"goproxy=https://u:p@h,direct":                  true,
		"goproxy=https://a.example,https://u@b.example": true,
		"  extraheader = authorization: basic x":        true,
		"  oauth-token = x":                             true,
		"smtppass = x":                                  true,
	} {
		assert.Equal(t, want, lineHoldsSecret([]byte(line)), line)
	}
}

// A file that cannot be judged is not shown.
func TestHoldsSecretWhereItCannotTell(t *testing.T) {
	dir := t.TempDir()
	assert.True(t, holdsSecret(filepath.Join(dir, "missing")))
	assert.True(t, holdsSecret(dir))
	large := filepath.Join(dir, "large")
	require.NoError(t, os.WriteFile(large, make([]byte, maxBytes+1), 0o600))
	assert.True(t, holdsSecret(large))
	require.NoError(t, os.WriteFile(large, []byte("[user]\n"), 0o600))
	assert.False(t, holdsSecret(large))
}

// The words of the grammar and the values of package policy are the same.
func TestWordsAgreeWithPolicy(t *testing.T) {
	for i, name := range modeNames {
		assert.Equal(t, policy.Mode(i).String(), name)
	}
	for i, name := range systemNames {
		assert.Equal(t, policy.SystemBase(i).String(), name)
	}
}

func TestPresetsAreReviewed(t *testing.T) {
	for _, p := range presets() {
		assert.LessOrEqual(t, len(p.paths), 10, "%s: short enough to be read", p.name)
		for _, pp := range p.paths {
			assert.NotEmpty(t, pp.why, pp.from)
			last := pp.from[len(pp.from)-1]
			place := strings.Replace(last, "~", "/home/u", 1)
			assert.True(t, grantable(place, "/home/u") || last == "$GOROOT", last)
		}
	}
	assert.IsIncreasing(t, PresetNames())
}

func TestShow(t *testing.T) {
	for p, want := range map[string]string{
		"./a": "./a", "a b": "'a b'", "it's": `'it'\''s'`, "a\nb": `"a\nb"`, "\xff": `"\xff"`, "a\x1b[0m": `"a\x1b[0m"`, "ä": "'ä'",
	} {
		assert.Equal(t, want, show(p))
	}
}

func TestFaultsErrorSpeaksForAll(t *testing.T) {
	one := &policy.ConfigError{File: "a", Line: 1, Col: 2, Message: "x"}
	two := &policy.ConfigError{Message: "y", Fix: "do z"}
	err := &FaultsError{Faults: []*policy.ConfigError{one, two}}
	assert.EqualError(t, err, "a:1:2: x\ny")
	assert.Equal(t, "do z", err.Hint())
	assert.ErrorIs(t, err, two)
	assert.Empty(t, (&FaultsError{Faults: []*policy.ConfigError{one}}).Hint())
}
