package policy

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDescriptionIsWrittenByItsTags compares with what encoding/json writes
// of the same fields.
func TestDescriptionIsWrittenByItsTags(t *testing.T) {
	t.Parallel()
	type tagged Description // without the method
	full := Description{
		Version: 1, Depth: 2, Backend: "bwrap",
		Entries: []DescribedEntry{{Path: "/a", Access: ReadWrite, Kind: Private, Type: TypeFile, Rule: "--rw /a"}},
		Links:   []DescribedLink{{Path: "/bin", Target: "usr/bin"}},
		Network: NetworkOn, Hosts: []string{"example.com:443", "<b>"},
		Limits: Limits{Timeout: time.Second, Memory: 1 << 40, Strict: true}, System: NoSystem,
		Private: []DescribedPath{"/home/u", "/tmp"},
	}
	for _, value := range []any{full, full.Entries[0], full.Links[0]} {
		v := reflect.ValueOf(value)
		for i := range v.NumField() {
			require.False(t, v.Field(i).IsZero(), "%s.%s takes no part in the test", v.Type(), v.Type().Field(i).Name)
		}
	}
	odd := Description{Backend: "\x00\"\\", Entries: []DescribedEntry{{}, {Rule: "\u2028 \xff < é"}}}
	for _, p := range []string{"/caf\u00e9", "/\xff\xfe", `"/quoted"`, "/a\nb", "/back\\slash", "/<&>", "/\x7f"} {
		odd.Entries = append(odd.Entries, DescribedEntry{Path: DescribedPath(p), Rule: p})
		odd.Links = append(odd.Links, DescribedLink{Path: "/l", Target: DescribedPath(p)})
	}
	found, err := rootForm(t, tree(t, ".envrc", "f"), ReadAndWrite).Expand()
	require.NoError(t, err)

	for _, d := range []Description{full, odd, {}, {Entries: []DescribedEntry{}}, found.Effective().Describe(1, "builtin")} {
		if d.Entries == nil {
			d.Entries = []DescribedEntry{} // no description is without; null would do
		}
		want, err := json.Marshal(tagged(d))
		require.NoError(t, err)
		got, err := d.MarshalJSON()
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(got))

		var back, expected Description
		require.NoError(t, json.Unmarshal(got, &back))
		require.NoError(t, json.Unmarshal(want, &expected))
		assert.Equal(t, expected, back)
	}
}
