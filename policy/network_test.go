package policy

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseHostRule(t *testing.T) {
	for in, want := range map[string]HostRule{
		"Example.COM":            {"example.com", 0},
		"example.com.":           {"example.com", 0},
		"example.com:443":        {"example.com", 443},
		"*.example.com":          {"*.example.com", 0},
		"*.example.com:80":       {"*.example.com", 80},
		"localhost":              {"localhost", 0},
		"a_b-c.x1":               {"a_b-c.x1", 0},
		"192.0.2.1:80":           {"192.0.2.1", 80},
		"[2001:DB8::1]":          {"2001:db8::1", 0},
		"[2001:db8:0::1]:443":    {"2001:db8::1", 443},
		"[::ffff:192.0.2.1]:443": {"192.0.2.1", 443},
	} {
		got, err := ParseHostRule(in)
		require.NoError(t, err, in)
		assert.Equal(t, want, got)
		again, err := ParseHostRule(got.String())
		require.NoError(t, err)
		assert.Equal(t, got, again, "String reads back")
	}
	for _, in := range []string{
		"", "*", "*:80", "*.", ".", "a..b", "a.*.b", "**.x", "http://x", "x/y", "x y", "x:0", "x:65536", "x:+1", "x:", "x:a", "x:80:81",
		"2001:db8::1", "[2001:db8::1", "[2001:db8::1]80", "[192.0.2.1]", "[fe80::1%eth0]:80", "user@x", "127.1", "2130706433", "0x7f000001", "*.2.1", "256.1.1.1", "é.example", "x\x00",
	} {
		got, err := ParseHostRule(in)
		assert.Error(t, err, "%q", in)
		assert.Equal(t, HostRule{}, got)
	}
}

func FuzzParseHostRule(f *testing.F) {
	for _, seed := range []string{"example.com:443", "*.x.y", "[::1]:80", "[::ffff:1.2.3.4]", "1.2.3.4", "a..b", ":", "[]:1", "x:", "*", "A.", "0x1", "[::%]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		rule, err := ParseHostRule(in)
		if err != nil {
			assert.Equal(t, HostRule{}, rule)
			return
		}
		again, err := ParseHostRule(rule.String())
		require.NoError(t, err, "%q", rule.String())
		assert.Equal(t, rule, again)
		assert.True(t, rule.covers(rule))
	})
}

func hosts(t testing.TB, rules ...string) []HostRule {
	t.Helper()
	var all []HostRule
	for _, r := range rules {
		h, err := ParseHostRule(r)
		require.NoError(t, err)
		all = append(all, h)
	}
	return all
}

func TestConnect(t *testing.T) {
	e := Effective{Network: Network{Mode: NetworkList, Allow: hosts(t, "example.com:443", "*.example.org", "192.0.2.1"), Deny: hosts(t, "bad.example.org", "x.example.org:22")}}
	for _, tc := range []struct {
		host    string
		port    int
		allowed bool
		reason  string
	}{
		{"example.com", 443, true, "allowed by example.com:443"},
		{"EXAMPLE.com.", 443, true, "allowed by example.com:443"},
		{"example.com", 80, false, "not on the allow-list"},
		{"example.com", 0, false, "not on the allow-list"},
		{"a.example.org", 1, true, "allowed by *.example.org"},
		{"example.org", 1, false, "not on the allow-list"},
		{"xexample.org", 1, false, "not on the allow-list"},
		{"bad.example.org", 1, false, "denied by bad.example.org"},
		{"x.example.org", 22, false, "denied by x.example.org:22"},
		{"x.example.org", 80, true, "allowed by *.example.org"},
		{"x.example.org", 0, false, "denied by x.example.org:22"},
		{"::ffff:192.0.2.1", 9, true, "allowed by 192.0.2.1"},
	} {
		d := e.Connect(tc.host, tc.port)
		assert.Equal(t, tc.allowed, d.Allowed, "%s:%d", tc.host, tc.port)
		assert.Equal(t, tc.reason, d.Reason)
	}
	assert.True(t, Effective{Network: Network{Mode: NetworkOn}}.Connect("x", 1).Allowed)
	assert.False(t, Effective{}.Connect("x", 1).Allowed)
}

// Whatever the meet allows, both allow; where ports are named, the other way
// round too.
func TestNetworkMeet(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	names := []string{"a.x", "b.x", "*.x", "c.b.x", "*.b.x", "y"}
	randomNetwork := func() Network {
		n := Network{Mode: NetworkMode(random.IntN(3))}
		for range random.IntN(4) {
			n.Allow = append(n.Allow, HostRule{names[random.IntN(len(names))], random.IntN(3)})
		}
		for range random.IntN(2) {
			n.Deny = append(n.Deny, HostRule{names[random.IntN(len(names))], random.IntN(3)})
		}
		return n
	}
	for range 3000 {
		n, m := randomNetwork(), randomNetwork()
		both := n.Meet(m)
		for _, host := range []string{"a.x", "b.x", "x", "c.b.x", "d.c.b.x", "y"} {
			for port := range 3 {
				inN, inM := Effective{Network: n}.Connect(host, port).Allowed, Effective{Network: m}.Connect(host, port).Allowed
				got := Effective{Network: both}.Connect(host, port).Allowed
				assert.Equal(t, inN && inM, got, "%s:%d\n%v\n%v\n%v", host, port, n, m, both)
			}
		}
		if narrowed, err := n.narrowed(m); err == nil {
			for _, host := range []string{"a.x", "b.x", "c.b.x", "y"} {
				if (Effective{Network: narrowed}).Connect(host, 1).Allowed {
					assert.True(t, Effective{Network: n}.Connect(host, 1).Allowed)
				}
			}
		}
	}
}

func TestHostRuleCovers(t *testing.T) {
	for _, tc := range []struct {
		rule, other string
		want        bool
	}{
		{"x.y", "x.y", true}, {"x.y", "x.y:80", true}, {"x.y:80", "x.y", false}, {"x.y:80", "x.y:80", true}, {"x.y:80", "x.y:81", false},
		{"*.y", "x.y", true}, {"*.y", "*.y", true}, {"*.y", "*.x.y", true}, {"*.x.y", "*.y", false}, {"*.y", "y", false}, {"x.y", "*.y", false},
	} {
		assert.Equal(t, tc.want, hosts(t, tc.rule)[0].covers(hosts(t, tc.other)[0]), "%s covers %s", tc.rule, tc.other)
	}
}

func TestLimitsMeet(t *testing.T) {
	a := Limits{Timeout: 10, CPU: 0, Memory: 5, Processes: 7, Strict: true}
	b := Limits{Timeout: 20, CPU: 3, Memory: 5, Tmp: 9}
	want := Limits{Timeout: 10, CPU: 3, Memory: 5, Processes: 7, Tmp: 9, Strict: true}
	assert.Equal(t, want, a.Meet(b))
	assert.Equal(t, want, b.Meet(a))
	assert.Equal(t, a, a.Meet(a))
	assert.Equal(t, a, a.Meet(Limits{}))
}

func TestMountSuffixes(t *testing.T) {
	m := Mount{Suffixes: []string{".md", ".tar.gz"}}
	for name, want := range map[string]bool{"/a/x.md": true, "/a/X.MD": true, "/x.tar.gz": true, "/x.gz": false, "/md": false, "/x.md.txt": false, "/.md": true} {
		assert.Equal(t, want, m.AllowsSuffix(name), name)
	}
	assert.True(t, Mount{}.AllowsSuffix("/x"))
	assert.False(t, Mount{Suffixes: []string{}}.AllowsSuffix("/x"))

	for _, tc := range []struct{ a, b, want []string }{
		{nil, nil, nil},
		{nil, []string{".md"}, []string{".md"}},
		{[]string{".md"}, nil, []string{".md"}},
		{[]string{".md"}, []string{}, []string{}},
		{[]string{".gz", ".md"}, []string{".tar.gz"}, []string{".tar.gz"}},
		{[]string{".md"}, []string{".pdf"}, []string{}},
		{[]string{".md", ".pdf"}, []string{".PDF", ".x"}, []string{".pdf"}},
	} {
		assert.Equal(t, tc.want, meetSuffixes(tc.a, tc.b), "%v %v", tc.a, tc.b)
	}
}
