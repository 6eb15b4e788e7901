package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDeriveErrors(t *testing.T) {
	root := tree(t, "src/a.go", "src/secret", "docs/x", "out/", "outside/x", "src/leak -> ../../outside")
	rw := rootForm(t, root, ReadAndWrite, mustDeny(t, "secret", "/", ""))
	ro := rootForm(t, root, ReadOnly)
	src := mustDerive(t, rw, Request{AllowRead: []string{"/src"}})
	drop := mustDerive(t, rw, Request{AllowRead: []string{"/src"}, AllowWrite: []string{"/out"}})
	empty := mustDerive(t, rw, Request{})
	pf := pathForm(t, root, "src rw", "docs ro")
	leaky := rootForm(t, root+"/src", ReadAndWrite)
	listed := mustNew(t, Spec{
		Mounts: []Mount{withRulesOf(mountAt(t, "docs", root+"/docs", ReadOnly), []string{".md"}, 100)},
		Limits: Limits{Timeout: 30e9, Memory: 1 << 20}, Network: Network{Mode: NetworkList, Allow: hosts(t, "*.example.com:443")},
	})

	var b strings.Builder
	for _, tc := range []struct {
		name    string
		parent  Sandbox
		request Request
		want    any // *PermissionEscalationError or *RequestError
	}{
		{"readonly false under a read-only parent", ro, Request{Inherit: true, Readonly: new(false)}, esc},
		{"readonly false under a parent without anything", empty, Request{Readonly: new(false)}, esc},
		{"read outside a narrowed parent", src, Request{AllowRead: []string{"/src", "/docs"}}, esc},
		{"the top of a narrowed parent", src, Request{AllowRead: []string{"/"}}, esc},
		{"write under a read-only parent", ro, Request{AllowWrite: []string{"/src"}}, esc},
		{"write where the parent reads", src, Request{AllowRead: []string{"/src"}, AllowWrite: []string{"/src"}}, esc},
		{"read a drop box", drop, Request{AllowRead: []string{"/out"}}, esc},
		{"a readonly write list that cannot be read", drop, Request{AllowWrite: []string{"/out"}, Readonly: new(true)}, esc},
		{"what a deny closes", rw, Request{AllowRead: []string{"/src/secret"}}, esc},
		{"a link that leaves", leaky, Request{AllowRead: []string{"/leak"}}, esc},
		{"a mount that does not exist", pf, Request{AllowRead: []string{"source"}}, esc},
		{"write a read-only mount", pf, Request{AllowWrite: []string{"docs"}}, esc},
		{"from nothing", empty, Request{AllowRead: []string{"/src"}}, esc},
		{"restrict outside", src, Request{Restrict: "/docs"}, esc},
		{"restrict, then a list outside it", rw, Request{Restrict: "/src", AllowRead: []string{"/docs"}}, esc},
		{"restrict, then writes it lacks", ro, Request{Restrict: "/src", Readonly: new(false)}, esc},
		{"network for none", rw, Request{Inherit: true, Network: &Network{Mode: NetworkOn}}, esc},
		{"network for a list", listed, Request{Inherit: true, Network: &Network{Mode: NetworkOn}}, esc},
		{"another host", listed, Request{Inherit: true, Network: &Network{Mode: NetworkList, Allow: hosts(t, "a.example.com:443", "b.example.com:80")}}, esc},
		{"more time", listed, Request{Inherit: true, Limits: Limits{Timeout: 60e9}}, esc},
		{"more memory", listed, Request{Inherit: true, Limits: Limits{Memory: 1 << 21}}, esc},
		{"another suffix", listed, Request{Inherit: true, Suffixes: []string{".md", ".exe"}}, esc},
		{"larger files", listed, Request{Inherit: true, MaxFileBytes: 101}, esc},

		{"dotdot", rw, Request{AllowRead: []string{"/src/../docs"}}, bad},
		{"dotdot with a backslash", rw, Request{AllowWrite: []string{`/src\..`}}, bad},
		{"dotdot behind a colon", pf, Request{AllowRead: []string{"src:.."}}, bad},
		{"empty entry", rw, Request{AllowRead: []string{""}}, bad},
		{"root form without a slash", rw, Request{AllowRead: []string{"src"}}, bad},
		{"restrict without a slash", rw, Request{Restrict: "src"}, bad},
		{"NUL", rw, Request{AllowRead: []string{"/a\x00"}}, bad},
		{"below a file", rw, Request{AllowRead: []string{"/src/a.go/x"}}, bad},
		{"a suffix without a dot", rw, Request{Suffixes: []string{"md"}}, bad},
		{"a suffix with a slash", rw, Request{Suffixes: []string{"./md"}}, bad},
		{"a negative size", rw, Request{MaxFileBytes: -1}, bad},
		{"a negative limit", rw, Request{Limits: Limits{Timeout: -1}}, bad},
	} {
		child, err := tc.parent.Derive(tc.request)
		require.Error(t, err, tc.name)
		assert.IsType(t, tc.want, err, tc.name)
		assert.Equal(t, Sandbox{}, child, tc.name)
		assert.NotContains(t, err.Error(), root, tc.name)
		fmt.Fprintf(&b, "%s\n%s\n\n", tc.name, err)
	}
	golden(t, "derive_errors.golden", b.String())

	for name, r := range map[string]Request{
		"a write list over a drop box asks for no reading": {AllowWrite: []string{"/out"}},
		"readonly lifts the check of the write list":       {AllowRead: []string{"/src"}, AllowWrite: []string{"/docs"}, Readonly: new(true)},
		"restrict to a drop box":                           {Restrict: "/out"},
		"restrict around what is left":                     {Restrict: "/"},
	} {
		_, err := drop.Derive(r)
		assert.NoError(t, err, name)
	}
	child := mustDerive(t, drop, Request{AllowWrite: []string{"/out"}})
	assertAccess(t, child, map[string]string{"/out/x": "w", "/src/a.go": "-"})
}

var (
	esc = &PermissionEscalationError{}
	bad = &RequestError{}
)

func withRulesOf(m Mount, suffixes []string, size int64) Mount {
	m.Suffixes, m.MaxFileBytes = suffixes, size
	return m
}
