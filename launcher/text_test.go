package launcher

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
)

func limitsOf(memory, processes int64) policy.Limits {
	return policy.Limits{Memory: memory, Processes: processes}
}

func TestReadText(t *testing.T) {
	for _, row := range []struct {
		name, stream string
		limit        int64
		want         string
		dropped      int64
		valid        bool
	}{
		{"nothing", "", 3, "", 0, true},
		{"less", "ab", 3, "ab", 0, true},
		{"just as much", "abc", 3, "abc", 0, true},
		{"more", "abcde", 3, "abc", 2, true},
		{"characters, not bytes", "äöü€𝄞x", 5, "äöü€𝄞", 1, true},
		{"a wrong byte is a character", "\xff\xfe\xfd", 2, "\xff\xfe", 1, false},
		{"half a character at the end", "ab\xe2\x82", 9, "ab\xe2\x82", 0, false},
		{"the largest limit", "abc", math.MaxInt64, "abc", 0, true},
		{"much more", strings.Repeat("x", 1<<20), 1, "x", 1<<20 - 1, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := readText(strings.NewReader(row.stream), row.limit)
			assert.Equal(t, Text{Content: row.want, Dropped: row.dropped}, got)
			assert.Equal(t, row.valid, got.Valid())
			assert.Equal(t, row.dropped > 0, strings.Contains(got.Marked(), "more bytes dropped]"))
		})
	}
}

// FuzzReadText: what is kept and what is dropped make up the stream, the cut
// is between characters, and no more than the limit is kept.
func FuzzReadText(f *testing.F) {
	f.Add("a€𝄞\xff", int64(2))
	f.Fuzz(func(t *testing.T, stream string, limit int64) {
		if limit <= 0 {
			limit = 1
		}
		got := readText(strings.NewReader(stream), limit)
		require.True(t, strings.HasPrefix(stream, got.Content))
		require.Equal(t, int64(len(stream)), int64(len(got.Content))+got.Dropped)
		require.LessOrEqual(t, int64(utf8.RuneCountInString(got.Content)), limit)
		if utf8.ValidString(stream) {
			require.True(t, got.Valid())
		}
	})
}

// failing is a stream that breaks off.
type failing struct{ io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrClosedPipe
	}
	return n, err
}

func TestReadTextOfABrokenStream(t *testing.T) {
	assert.Equal(t, Text{Content: "abc", Dropped: 2}, readText(failing{strings.NewReader("abcde")}, 3))
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 1: "1B", 1000: "1000B", 1024: "1KiB", 1536: "1536B", 64 << 20: "64MiB", 3 << 30: "3GiB", 1 << 40: "1TiB", math.MaxInt64: "9223372036854775807B"} {
		assert.Equal(t, want, size(n))
	}
}
