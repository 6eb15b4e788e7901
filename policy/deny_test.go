package policy

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDenyCovers(t *testing.T) {
	mounts := []Mount{{Root: "/p"}, {Root: "/p/inner"}, {Root: "/q/secret"}}
	for _, tc := range []struct {
		name, pattern   string
		covered, spared []string
	}{
		{"name at any depth of every mount", "secret",
			[]string{"/p/secret", "/p/a/b/secret", "/p/secret/below", "/p/inner/secret", "/q/secret/secret"},
			[]string{"/p", "/p/secrets", "/p/asecret", "/other/secret", "/q/secret", "/q/secret/x", "/q"}},
		{"name of an inner mount's root", "inner", []string{"/p/inner", "/p/inner/x", "/p/a/inner"}, []string{"/p/a"}},
		{"name with a wildcard", "*.pem", []string{"/p/a.pem", "/p/d.pem/x", "/p/.pem"}, []string{"/p/a.pem.txt", "/x/a.pem"}},
		{"trailing slash", "secret/", []string{"/p/secret", "/p/secret/x"}, []string{"/p/secretx"}},
		{"relative to the file", "conf/key", []string{"/p/conf/key", "/p/conf/key/x"}, []string{"/p/a/conf/key", "/p/conf"}},
		{"dot slash", "./.env", []string{"/p/.env"}, []string{"/p/a/.env"}},
		{"parent of the file", "../q/x", []string{"/q/x", "/q/x/y"}, []string{"/p/q/x"}},
		{"any depth below the file", "**/*.key", []string{"/p/a.key", "/p/b/c/a.key"}, []string{"/q/secret/a.key"}},
		{"absolute", "/etc/ssl", []string{"/etc/ssl", "/etc/ssl/x"}, []string{"/etc/sslx", "/p/etc/ssl"}},
		{"absolute glob", "/**/id_*", []string{"/q/id_rsa", "/id_x"}, []string{"/q/xid_"}},
		{"home", "~/.ssh", []string{"/h/me/.ssh/id"}, []string{"/p/.ssh"}},
		{"home itself", "~", []string{"/h/me", "/h/me/x"}, []string{"/h"}},
		{"escaped", `/p/a\*b`, []string{"/p/a*b"}, []string{"/p/axb"}},
		{"alternatives", "/p/{a,b}/c", []string{"/p/a/c", "/p/b/c/d"}, []string{"/p/c/c"}},
		{"name with an escape", `\!x`, []string{"/p/!x"}, []string{"/p/x"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := mustDeny(t, tc.pattern, "/p", "/h/me").bind(mounts, nil)
			for _, p := range tc.covered {
				assert.True(t, d.covers(p), "%s should cover %s", tc.pattern, p)
			}
			for _, p := range tc.spared {
				assert.False(t, d.covers(p), "%s should spare %s", tc.pattern, p)
			}
		})
	}
}

func TestDenyLiteral(t *testing.T) {
	for pattern, want := range map[string]string{
		"./a": "/p/a", "/x//y/": "/x/y", `/x/\[y]`: "/x/[y]", "~/k": "/h/k", "a/../b/c": "/p/b/c",
		"a": "", "*.x": "", "/x/*": "", "./{a,b}": "",
	} {
		got, ok := mustDeny(t, pattern, "/p", "/h").Literal()
		assert.Equal(t, want, got, pattern)
		assert.Equal(t, want != "", ok, pattern)
	}
}

func TestParseDenyErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                          `empty pattern "": it would deny everything`,
		"///":                       `empty pattern "///": it would deny everything`,
		".":                         `pattern "." would deny everything`,
		"../":                       `pattern "../" would deny everything`,
		"/..":                       `pattern "/.." would deny everything`,
		"a\x00b":                    `pattern "a\x00b" holds a NUL`,
		"a[":                        `pattern "a[": a bracket or brace is not closed; a backslash before it makes it an ordinary character`,
		"x/{a,b":                    `pattern "x/{a,b": a bracket or brace is not closed; a backslash before it makes it an ordinary character`,
		`a\`:                        `pattern "a\\": a bracket or brace is not closed; a backslash before it makes it an ordinary character`,
		"!keep":                     `pattern "!keep": a deny cannot be lifted; write \! for a name that starts with !`,
		"~bob/.ssh":                 `pattern "~bob/.ssh": only your own home has a ~; write the path`,
		"/a/*/../b":                 `pattern "/a/*/../b": .. cannot stand behind a wildcard`,
		"{a,b}{a,b}{a,b}{a,b}{a,b}": `pattern "{a,b}{a,b}{a,b}{a,b}{a,b}": too many alternatives in braces; write several patterns`,
		"/{a/../b,c}":               `pattern "/{a/../b,c}": .. cannot stand behind a wildcard`,
	} {
		d, err := ParseDeny(pattern, "/p", "/h", Rule{})
		require.Error(t, err, pattern)
		assert.Equal(t, want, err.Error())
		assert.Equal(t, Deny{}, d)
	}
	_, err := ParseDeny("~/x", "/p", "", Rule{})
	assert.EqualError(t, err, `pattern "~/x": there is no home that ~ could stand for`)
}

// A pattern counts from a directory and a home whatever bytes their names
// hold.
func TestParseDenyEscapesPlaces(t *testing.T) {
	dir, home := "/a[b]/{c,d}", `/h*\?`
	d := mustDeny(t, "./*.pem", dir, home)
	assert.True(t, d.covers(dir+"/x.pem"))
	assert.False(t, d.covers("/ab/c/x.pem"))
	d = mustDeny(t, "~/x", dir, home)
	literal, _ := d.Literal()
	assert.Equal(t, home+"/x", literal)
}

func TestEscapeGlob(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		p, q := randomPath(random, `a*?[]{}\,!-^`, 3), randomPath(random, `a*?[]{}\,!-^`, 3)
		assert.Equal(t, p, unescapeGlob(escapeGlob(p)))
		assert.True(t, matchGlob(escapeGlob(p), p), "%q", p)
		assert.Equal(t, p == q, matchGlob(escapeGlob(p), q), "%q %q", p, q)
		assert.False(t, hasMeta(escapeGlob(p)))
	}
}

func FuzzParseDeny(f *testing.F) {
	for _, seed := range []string{".env", "**/*.pem", "./a", "/x/{a,b}", "~", "~/k", "!x", "a[", `\[`, "..", "a/../../..", "/**", "{", "*", "[!a]x", "a\xff", "/[a-/]b", "/{a/../../b,c}", "//", "~x/y"} {
		f.Add(seed, "/p/q")
	}
	f.Fuzz(func(t *testing.T, written, p string) {
		d, err := ParseDeny(written, "/p", "/h", Rule{})
		if err != nil {
			assert.Equal(t, Deny{}, d)
			return
		}
		assert.Equal(t, written, d.Written)
		if literal, ok := d.Literal(); ok {
			assert.True(t, IsHostPath(literal), "%q", literal)
			assert.NotEqual(t, "/", literal)
		}
		if p = path.Clean("/" + strings.ReplaceAll(p, "\x00", "")); p == "/" {
			return
		}
		// What lies below a match is covered, however deep.
		if d.Matches(p) || d.covers(p) {
			assert.True(t, d.covers(p), "%q %q", written, p)
			assert.True(t, d.covers(join(p, "x/y")), "%q %q", written, p)
		}
	})
}
