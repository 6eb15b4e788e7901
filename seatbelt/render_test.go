package seatbelt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sbx-run/sbx/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSameBytes: the order of what goes in does not matter.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range uint64(50) {
		c := generate(n)
		e := grants(t, "*.pem", ".env", "/Users/u/w/**/x", "[^a]")
		e.Area = c.given.Area
		e.Denies = append(e.Denies, c.given.Denies...)
		e.Links = []policy.Link{{Path: "/tmp", Target: "private/tmp"}, {Path: "/Users/u/link", Target: "w"}}
		e.System, e.Network = c.given.System, c.given.Network
		first := mustRender(t, e, c.run)

		shuffled := e
		shuffled.Area = policy.NewArea(shuffle(rng, e.Area.Entries())...)
		shuffled.Denies = shuffle(rng, e.Denies)
		shuffled.Links = shuffle(rng, e.Links)
		shuffled.Mounts = shuffle(rng, e.Mounts)
		assert.Equal(t, first, mustRender(t, shuffled, c.run), "policy %d", n)
	}
}

func shuffle[T any](rng *rand.Rand, in []T) []T {
	out := slices.Clone(in)
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func TestErrors(t *testing.T) {
	t.Parallel()
	rule := policy.Rule{File: "sbx.yaml", Line: 7, Text: "network"}
	area := func(p string) policy.Effective {
		return policy.Effective{Area: policy.NewArea(policy.Entry{Path: p, Access: policy.Read, Kind: policy.Granted, Rule: rule})}
	}
	list := policy.Effective{Network: policy.Network{Mode: policy.NetworkList, Rule: rule, Allow: []policy.HostRule{{Host: "example.org", Port: 443}}}}
	empty := policy.Effective{}
	for _, tc := range []struct {
		name   string
		e      policy.Effective
		run    Run
		target any
		want   string
	}{
		{"host rule", list, Run{}, new(*UnsupportedError), "seatbelt cannot express network rule example.org:443 (sbx.yaml:7: network)"},
		{"host rule, as any backend says it", list, Run{}, new(*policy.BackendUnavailableError), "network rule example.org:443"},
		{"volume", area("/System/Volumes/Data"), Run{}, new(*UnsupportedError), "a grant of /System/Volumes/Data"},
		{"write-only root", policy.Effective{Area: policy.NewArea(policy.Entry{Path: "/", Access: policy.Write, Kind: policy.Granted, Rule: rule})}, Run{}, new(*UnsupportedError), "write-only access to /"},
		{"line feed", area("/a\nb"), Run{}, new(*PathError), `path "/a\nb" cannot be used with seatbelt: it holds the control character '\n' (sbx.yaml:7: network)`},
		{"delete", area("/a\x7f"), Run{}, new(*PathError), "control character"},
		{"C1 control", area("/a\u0085b"), Run{}, new(*PathError), "control character"},
		{"no UTF-8", area("/a\xff"), Run{}, new(*PathError), "it is not valid UTF-8"},
		{"not clean", area("/a/../b"), Run{}, new(*PathError), "not absolute and clean"},
		{"long path", area("/" + strings.Repeat("a", 900)), Run{}, new(*TooLargeError), "one path of 901 bytes, at most 900"},
		{"relative private", empty, Run{Private: []string{"tmp"}}, new(*PathError), "not absolute and clean"},
		{"private root", empty, Run{Private: []string{"/"}}, new(*RunError), "below the root"},
		{"no private", empty, Run{Private: []string{""}}, new(*RunError), "below the root"},
		{"terminal", empty, Run{Terminal: "/etc/passwd"}, new(*RunError), "want a terminal"},
		{"tag", empty, Run{Tag: `a"b`}, new(*RunError), "letters, digits"},
		{"port", empty, Run{ProxyPort: 70000}, new(*RunError), "1 to 65535"},
		{"proxy without a list", empty, Run{ProxyPort: 3128}, new(*RunError), "only an allow-list"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, err := Render(tc.e, tc.run)
			require.ErrorContains(t, err, tc.want)
			require.ErrorAs(t, err, tc.target)
			assert.Empty(t, p)
		})
	}
}

func TestErrorHints(t *testing.T) {
	t.Parallel()
	_, err := Render(policy.Effective{Network: policy.Network{Mode: policy.NetworkList}}, Run{})
	var hinted interface{ Hint() string }
	require.ErrorAs(t, err, &hinted)
	assert.Contains(t, hinted.Hint(), "network: true")
	var unavailable *policy.BackendUnavailableError
	require.True(t, errors.As(err, &unavailable))
	assert.Equal(t, "seatbelt", unavailable.Backend)
	assert.NotEmpty(t, (&TooLargeError{}).Hint())
	assert.Contains(t, (&PathError{Path: "/a", Reason: "bad", Rule: policy.Rule{Text: "--rw /a"}}).Error(), "(--rw /a)")
}

// TestBudget: a policy that would not compile on macOS is refused here, and
// one just below renders within the limits of every rule.
func TestBudget(t *testing.T) {
	t.Parallel()
	many := func(n int) policy.Effective {
		entries := []policy.Entry{{Path: "/Users/u/w", Access: policy.ReadWrite, Kind: policy.Granted, Type: policy.TypeDir}}
		for i := range n {
			entries = append(entries, policy.Entry{Path: fmt.Sprintf("/Users/u/w/some/package-%04d/.env", i), Kind: policy.Hidden, Type: policy.TypeFile})
		}
		return policy.Effective{Area: policy.NewArea(entries...)}
	}
	p := compileProfile(t, mustRender(t, many(600), Run{}))
	assert.Empty(t, p.Lint())

	_, err := Render(many(1200), Run{})
	var large *TooLargeError
	require.ErrorAs(t, err, &large)
	assert.Equal(t, maxPatterns, large.Limit)
	assert.Greater(t, large.Bytes, maxPatterns)
}

func TestArgv(t *testing.T) {
	t.Parallel()
	p := mustRender(t, policy.Effective{}, Run{Private: []string{"/private/tmp/sbx 1", "/private/tmp/a=b"}})
	assert.Equal(t, []string{
		"/usr/bin/sandbox-exec", "-f", "/x.sb", "-D", "PRIVATE_1=/private/tmp/sbx 1", "-D", "PRIVATE_2=/private/tmp/a=b", "--", "cmd", "-x",
	}, p.Argv("/x.sb", "cmd", "-x"))
	assert.Equal(t, []string{"/usr/bin/sandbox-exec", "-p", p.Text}, p.Argv("", "cmd")[:3])
}

// TestPrivateDirectoriesAreNotInTheText: two runs of a policy share one text.
func TestPrivateDirectoriesAreNotInTheText(t *testing.T) {
	t.Parallel()
	a := mustRender(t, typical(), Run{Private: []string{"/private/var/folders/a/T/1"}})
	b := mustRender(t, typical(), Run{Private: []string{"/var/folders/b/T/2"}})
	assert.Equal(t, a.Text, b.Text)
	assert.Equal(t, "/private/var/folders/b/T/2", b.Params[0].Value)
}

func TestTag(t *testing.T) {
	t.Parallel()
	text := mustRender(t, typical(), Run{Tag: "sbx-1"}).Text
	assert.Contains(t, text, `(deny default (with message "sbx-1"))`)
	assert.NotContains(t, mustRender(t, typical(), Run{}).Text, "message")
}
