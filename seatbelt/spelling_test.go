package seatbelt

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/":                                 "/",
		"/tmp":                              "/private/tmp",
		"/tmp/x":                            "/private/tmp/x",
		"/tmpx":                             "/tmpx",
		"/etc/hosts":                        "/private/etc/hosts",
		"/var/folders/a":                    "/private/var/folders/a",
		"/private/tmp":                      "/private/tmp",
		"/System/Volumes/Data":              "/System/Volumes/Data",
		"/System/Volumes/Data/Users/u":      "/Users/u",
		"/System/Volumes/Data/tmp/x":        "/private/tmp/x",
		"/System/Volumes/Database":          "/System/Volumes/Database",
		"/System/Volumes/Preboot/Cryptexes": "/System/Volumes/Preboot/Cryptexes",
	} {
		assert.Equal(t, want, canonical(in), in)
		assert.Equal(t, want, canonical(want), "canonical is a fixed point")
	}
}

func TestOtherNamesLeadBack(t *testing.T) {
	t.Parallel()
	assert.Empty(t, otherNames("/"))
	assert.Empty(t, otherNames("/System/Volumes/Data/x"))
	assert.Equal(t, []string{"/tmp/x", "/System/Volumes/Data/private/tmp/x"}, otherNames("/private/tmp/x"))
	assert.Equal(t, []string{"/System/Volumes/Data/private/tmpx"}, otherNames("/private/tmpx"))
	for _, p := range []string{"/Users/u", "/private/tmp", "/private/etc/x", "/opt"} {
		for _, name := range otherNames(p) {
			assert.Equal(t, p, canonical(name))
		}
	}
}

func TestAncestors(t *testing.T) {
	t.Parallel()
	assert.Empty(t, ancestors("/"))
	assert.Equal(t, []string{"/"}, ancestors("/a"))
	assert.Equal(t, []string{"/", "/a", "/a/b"}, ancestors("/a/b/c"))
}

func TestForms(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ composed, decomposed string }{
		{"caf\u00e9", "cafe\u0301"},
		{"\u00dcber", "U\u0308ber"},
		{"\u1ebf", "e\u0302\u0301"},                              // two marks
		{"\u1ec7", "e\u0323\u0302"},                              // one below, one above
		{"\u0439\u0451", "\u0438\u0306\u0435\u0308"},             // Cyrillic
		{"\u03ac", "\u03b1\u0301"},                               // Greek
		{"\u304c\u30d1", "\u304b\u3099\u30cf\u309a"},             // kana
		{"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"}, // Hangul
		{"\uac00", "\u1100\u1161"},
		{"plain", "plain"},
		{"\u65e5\u672c", "\u65e5\u672c"}, // no forms
	} {
		assert.Equal(t, tc.decomposed, decompose(tc.composed))
		assert.Equal(t, tc.composed, compose(tc.decomposed))
		assert.Equal(t, tc.composed, compose(tc.composed))
		assert.Equal(t, tc.decomposed, decompose(tc.decomposed))
	}
	for _, row := range marks {
		assert.Len(t, []rune(row.plain), len([]rune(row.letters)), "%x", row.mark)
		for _, letter := range row.letters {
			assert.Equal(t, string(letter), compose(decompose(string(letter))))
		}
	}
}

func TestAnyCase(t *testing.T) {
	t.Parallel()
	re := regexp.MustCompile(anyCase("/Users/u/W.x", "/.git/Hooks+é", true))
	for _, p := range []string{"/Users/u/W.x/.git/Hooks+é", "/Users/u/W.x/.GIT/hOOKS+é/x"} {
		assert.True(t, re.MatchString(p), p)
	}
	for _, p := range []string{"/users/u/W.x/.git/Hooks+é", "/Users/u/Wxx/.git/Hooks+é", "/Users/u/W.x/xgit/Hooks+é", "/Users/u/W.x/.git/Hooks+éx"} {
		assert.False(t, re.MatchString(p), p)
	}
	exact := regexp.MustCompile(anyCase("/", "a", false))
	assert.True(t, exact.MatchString("/A"))
	assert.False(t, exact.MatchString("/a/b"))
	assert.Equal(t, `\^\$\.\[\]\*\+\?\(\|\)\\\{\}`, escape(`^$.[]*+?(|)\{}`))
	assert.NotContains(t, anyCase("/", strings.Repeat("_@[`{", 3), false), "]_")
}
