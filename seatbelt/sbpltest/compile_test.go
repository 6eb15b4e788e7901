package sbpltest

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustCompile(t *testing.T, rules string, params map[string]string) *Profile {
	t.Helper()
	p, err := Compile("(version 1)\n(deny default)\n"+rules, params)
	require.NoError(t, err)
	return p
}

func TestPathFilters(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, filter string
		yes, no      []string
	}{
		{"literal", `(literal "/a/b")`, []string{"/a/b"}, []string{"/a/b/c", "/a", "/a/bc", "/A/b"}},
		{"subpath", `(subpath "/a/b")`, []string{"/a/b", "/a/b/c"}, []string{"/a", "/a/bc"}},
		{"subpath of the root", `(subpath "/")`, []string{"/", "/a"}, nil},
		{"prefix", `(prefix "/a/b")`, []string{"/a/b", "/a/bc"}, []string{"/a"}},
		{"ancestors", `(path-ancestors "/a/b/c")`, []string{"/", "/a", "/a/b"}, []string{"/a/b/c", "/a/bb"}},
		{"ancestors of the root", `(path-ancestors "/")`, nil, []string{"/", "/a"}},
		{"several strings", `(literal "/a" "/b")`, []string{"/a", "/b"}, []string{"/c"}},
		{"several filters", `(literal "/a") (subpath "/b")`, []string{"/a", "/b/c"}, []string{"/c"}},
		{"all", `(require-all (subpath "/a") (vnode-type REGULAR-FILE))`, []string{"/a/x"}, []string{"/b"}},
		{"not", `(require-all (subpath "/a") (require-not (literal "/a/x")))`, []string{"/a/y"}, []string{"/a/x"}},
		{"other type", `(require-all (subpath "/a") (vnode-type SYMLINK))`, nil, []string{"/a/x"}},
		{"parameter", `(subpath (param "P"))`, []string{"/p q/x"}, []string{"/p"}},
		{"regex, anchored", `(regex "^/a/[bB]$")`, []string{"/a/b", "/a/B"}, []string{"/a/bb", "/x/a/b"}},
		{"regex, search", `(regex "b")`, []string{"/a/b", "/ab/c"}, []string{"/a"}},
		{"regex, group", `(regex "^/a(/.*)?$")`, []string{"/a", "/a/b/c"}, []string{"/ab"}},
		{"regex, escape", `(regex "^/a\\.b$")`, []string{"/a.b"}, []string{"/axb"}},
		{"regex, alternatives", `(regex "^/(a|b)+$")`, []string{"/ab"}, []string{"/c"}},
		{"regex, bytes", `(regex "^/é$")`, []string{"/é"}, []string{"/e"}},
		{"extension", `(extension "x")`, nil, []string{"/a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := mustCompile(t, "(allow file-read-data "+tc.filter+")", map[string]string{"P": "/p q"})
			ask := func(path string) bool {
				return p.Decide(Query{Op: "file-read-data", Path: path, VnodeType: "REGULAR-FILE"}, SStar).Allowed
			}
			for _, path := range tc.yes {
				assert.True(t, ask(path), path)
			}
			for _, path := range tc.no {
				assert.False(t, ask(path), path)
			}
		})
	}
}

func TestFoldCase(t *testing.T) {
	t.Parallel()
	p := mustCompile(t, `(allow file-read-data (subpath "/A/b") (literal "/L") (regex "^/r/[x]$"))`, nil)
	fold := SStar
	fold.FoldCase = true
	for _, path := range []string{"/a/B/c", "/l", "/R/X"} {
		q := Query{Op: "file-read-data", Path: path}
		assert.False(t, p.Decide(q, SStar).Allowed, path)
		assert.True(t, p.Decide(q, fold).Allowed, path)
	}
}

func TestOtherFilters(t *testing.T) {
	t.Parallel()
	v4, v6 := netip.MustParseAddrPort("127.0.0.1:80"), netip.MustParseAddrPort("[::1]:80")
	out := func(s Socket) Query { return Query{Op: "network-outbound", Socket: s} }
	for _, tc := range []struct {
		name, rule string
		query      Query
		want       bool
	}{
		{"tcp only", `(allow network-outbound (remote tcp "*:80"))`, out(Socket{Proto: "tcp", Remote: v4}), true},
		{"udp is not tcp", `(allow network-outbound (remote tcp "*:80"))`, out(Socket{Proto: "udp", Remote: v4}), false},
		{"v4 only", `(allow network-outbound (remote ip4 "*:80"))`, out(Socket{Proto: "tcp", Remote: v6}), false},
		{"v6 only", `(allow network-outbound (to ip6 "localhost:80"))`, out(Socket{Proto: "tcp", Remote: v6}), true},
		{"any unix", `(allow network-outbound (remote unix))`, Query{Op: "network-outbound", Path: "/s", Socket: Socket{Unix: true}}, true},
		{"unix by path, old form", `(allow network-outbound (remote unix-socket (subpath "/s")))`, Query{Op: "network-outbound", Path: "/s/x", Socket: Socket{Unix: true}}, true},
		{"unix is not ip", `(allow network-outbound (remote unix))`, out(Socket{Proto: "tcp", Remote: v4}), false},
		{"domain", `(allow system-socket (socket-domain AF_UNIX))`, Query{Op: "system-socket", Domain: "AF_UNIX"}, true},
		{"other domain", `(allow system-socket (socket-domain AF_UNIX))`, Query{Op: "system-socket", Domain: "AF_INET"}, false},
		{"protocol", `(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))`, Query{Op: "system-socket", Domain: "AF_SYSTEM", Protocol: 2}, true},
		{"other protocol", `(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))`, Query{Op: "system-socket", Domain: "AF_SYSTEM", Protocol: 1}, false},
		{"type", `(allow system-socket (socket-type SOCK_STREAM))`, Query{Op: "system-socket", SockType: "SOCK_STREAM"}, true},
		{"shared memory prefix", `(allow ipc-posix-shm* (ipc-posix-name-prefix "a."))`, Query{Op: "ipc-posix-shm-read-data", Name: "a.b"}, true},
		{"iokit", `(allow iokit-open (iokit-user-client-class "C"))`, Query{Op: "iokit-open", Name: "C"}, true},
		{"sysctl-write is read too", `(allow sysctl-write (sysctl-name "x"))`, Query{Op: "sysctl-read", Name: "x"}, true},
		{"extension", `(allow file-read* (extension "e"))`, Query{Op: "file-read-data", Path: "/x", Extensions: []string{"e"}}, true},
		{"exec falls back", `(allow process*)`, Query{Op: "process-exec-interpreter", Path: "/bin/sh"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, mustCompile(t, tc.rule, nil).Decide(tc.query, SStar).Allowed)
		})
	}
}

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, rules, want string }{
		{"version 2", "", "only (version 1)"},
		{"version twice", "(version 1)", "unsupported form"},
		{"define", `(define x 1)`, "unsupported form"},
		{"no operation", `(allow)`, "without an operation"},
		{"filter alone", `(allow (literal "/a"))`, "does not apply"},
		{"operation twice", `(allow file-read* file-read*)`, "twice"},
		{"operation after filter", `(allow file-read* (literal "/a") file-write*)`, "after a filter"},
		{"string as filter", `(allow file-read* "/a")`, "neither operation nor filter"},
		{"relative path", `(allow file-read* (literal "a"))`, "not absolute"},
		{"no argument", `(allow file-read* (literal))`, "without an argument"},
		{"number for string", `(allow file-read* (literal 1))`, "want a string"},
		{"vnode type", `(allow file-read* (vnode-type PIPE))`, "vnode-type takes one of"},
		{"no port", `(allow network-outbound (remote ip "localhost"))`, "has no port"},
		{"port 0", `(allow network-outbound (remote ip "localhost:0"))`, "port"},
		{"protocol", `(allow network-outbound (remote icmp "*:*"))`, "unbound variable: icmp"},
		{"report on deny", `(deny file-read* (with report))`, "refused"},
		{"no-log on allow", `(allow file-read* (with no-log))`, "refused"},
		{"path on ip operation mix", `(allow sysctl-read file-read* (literal "/a"))`, "does not apply"},
		{"empty require", `(allow file-read* (require-all))`, "without a filter"},
		{"unknown require", `(allow file-read* (require-some (literal "/a")))`, "unbound"},
		{"regex, count", `(allow file-read* (regex "^/a{2}$"))`, "dialect"},
		{"regex, class", `(allow file-read* (regex "^/\\d$"))`, "dialect"},
		{"regex, caret inside", `(allow file-read* (regex "/a^b"))`, "unexpected ^"},
		{"regex, open group", `(allow file-read* (regex "^/(a"))`, "not closed"},
		{"regex, close", `(allow file-read* (regex "^/a)"))`, "unexpected )"},
		{"regex, nothing to repeat", `(allow file-read* (regex "*a"))`, "nothing to repeat"},
		{"regex, open bracket", `(allow file-read* (regex "[a"))`, "bracket"},
		{"regex, backslash at end", `(allow file-read* (regex "a\\"))`, "at the end"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			source := "(version 1)\n" + tc.rules
			if tc.name == "version 2" {
				source = "(version 2)"
			}
			_, err := Compile(source, nil)
			require.ErrorContains(t, err, tc.want)
			var compile *CompileError
			require.ErrorAs(t, err, &compile)
		})
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	const root = `(allow file-read* (literal "/"))`
	for _, tc := range []struct{ name, rules, want string }{
		{"clean", root, ""},
		{"no root directory", "", "root directory is not readable"},
		{"raw string", root + `(allow file-read* (literal #"/a"))`, "raw string"},
		{"unfiltered last", root + `(allow file-write* (literal "/a"))(deny file-write*)`, "unfiltered rule for file-write* after a filtered one"},
		{"unfiltered parent last", root + `(allow file-write* (literal "/a"))(deny file-write-data)`, "after a filtered one for file-write*"},
		{"two unfiltered", `(deny signal)(allow signal)` + root, "second unfiltered"},
		{"local on outbound", root + `(allow network-outbound (local ip "localhost:*"))`, "every destination"},
		{"bare network", root + `(allow network*)`, "allows all of network*"},
		{"trailing slash", root + `(allow file-read* (subpath "/a/"))`, "not clean"},
		{"unresolved", root + `(allow file-read* (subpath "/tmp/a"))`, "not how the kernel spells it"},
		{"unresolved deny is fine", root + `(deny file-read* (subpath "/tmp/a"))`, ""},
		{"link itself", root + `(allow file-read-metadata (literal "/tmp"))`, ""},
		{"second name", root + `(allow file-read* (subpath "/System/Volumes/Data"))`, "second name"},
		{"cryptexes", root + `(allow file-read* (subpath "/System/Volumes/Preboot/Cryptexes"))`, ""},
		{"dead regex", root + `(deny file-read* (regex "^/(?:a)$"))`, "never matches"},
		{"open regex", root + `(deny file-read* (regex "/a$"))`, "not anchored"},
		{"control character", root + "(deny file-read* (literal \"/a\tb\"))", "control character"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			findings := mustCompile(t, tc.rules, nil).Lint()
			if tc.want == "" {
				assert.Empty(t, findings)
				return
			}
			require.Len(t, findings, 1)
			assert.Contains(t, findings[0], tc.want)
		})
	}
}

func TestActionsNameKnownOperations(t *testing.T) {
	t.Parallel()
	for _, row := range Actions {
		assert.NotEmpty(t, row.Source, row.Name)
		assert.NotEmpty(t, row.Calls, row.Name)
		for _, q := range (Action{Name: row.Name, Path: "/a", To: "/b", Over: true, Via: []string{"/l"}}).Checks() {
			_, ok := operations[q.Op]
			assert.True(t, ok, "%s asks for %s", row.Name, q.Op)
		}
	}
}
