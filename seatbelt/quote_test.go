package seatbelt

import (
	"testing"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt/sbpltest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`/a b`:       `"/a b"`,
		`/q"q`:       `"/q\"q"`,
		`/b\b`:       `"/b\\b"`,
		`/\n\x41`:    `"/\\n\\x41"`,
		"/caf\u00e9": "\"/caf\u00e9\"",
		"/;(#|)":     `"/;(#|)"`,
		"":           `""`,
	} {
		assert.Equal(t, want, quote(in))
	}
}

// FuzzQuote: what checkPath lets through reads back as itself, and nothing of
// it reaches the text around it.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"/a", `/"`, `/\`, `/\"`, `/a\\"b`, "/\u00e9", "/\x00", "/\n", "/\xff", `/\101`, `/"))(allow default)(deny x "`, "/\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if checkPath(s, policy.Rule{}) != nil {
			return
		}
		forms, err := sbpltest.Read("(x " + quote(s) + " y)")
		require.NoError(t, err)
		require.Len(t, forms, 1)
		require.Len(t, forms[0].Items, 3)
		require.Equal(t, sbpltest.Text, forms[0].Items[1].Kind)
		require.Equal(t, s, forms[0].Items[1].Atom)
	})
}

// FuzzRender: a policy with one hostile path either is refused or gives a
// clean profile that decides as the policy does, on that path and on others.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{"/a b", `/"x`, `/\`, "/\u00e9\u0301", "/(.*)", "/[a]{2}", "/tmp/x", "/System/Volumes/Data/x", "/dev/null", "/private"} {
		f.Add(seed, uint8(3), uint8(4))
	}
	f.Add("/", uint8(0), uint8(1))
	f.Add("/dev/null", uint8(0), uint8(4))
	f.Fuzz(func(t *testing.T, path string, access, fileType uint8) {
		if !policy.IsHostPath(path) || len(path) > 200 {
			return
		}
		entry := policy.Entry{
			Path: path, Access: policy.Access(access & 3), Kind: policy.Granted, Type: policy.FileType(fileType % 5),
		}
		e := policy.Effective{Area: policy.NewArea(
			policy.Entry{Path: "/Users/u/w", Access: policy.ReadWrite, Kind: policy.Granted, Type: policy.TypeDir}, entry,
		)}
		rendered, err := Render(e, Run{})
		if err != nil {
			require.Empty(t, rendered)
			return
		}
		p := compileProfile(t, rendered)
		require.Empty(t, p.Lint())
		c := sample{truth: e, entries: e.Area.Entries()}
		for _, asked := range append([]string{"/Volumes/secret/x", "/Users/u/w/x"}, askedPaths(c)...) {
			if canonical(asked) != asked || canonical(path) != path || policy.Contains(volumes, asked) {
				continue // the policy knows other names of the place
			}
			for _, s := range sbpltest.Readings() {
				want := newOracle(c).wants("file-read-data", asked)
				require.Equal(t, want, p.Decide(fileQuery("file-read-data", asked), s).Allowed, "%q under %s", asked, s)
			}
		}
	})
}
