package stage

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var allOrders = Orders{
	Points: []string{"/sys", "/mnt"},
	Root:   Identity{Dev: 1, Ino: 2},
	Steps: []Step{
		{Op: Tmpfs, Path: "/home/u", In: "/", Dir: true, Size: 1 << 30},
		{Op: ShowRW, Path: "/home/u/a b\nc\xff", In: "/home/u", Dir: true, Source: 7, Shown: Identity{Dev: 1 << 40, Ino: 1<<64 - 1, Born: -1}},
		{Op: MaskFile, Path: "/home/u/a/.env"},
		{Op: Symlink, Path: "/home/u/l", In: "/home/u", Target: "../x"},
	},
	Sites: []string{"/home"},
}

func TestOrders(t *testing.T) {
	for name, want := range map[string]Orders{
		"all":   allOrders,
		"least": {Points: []string{}, Sites: []string{}, Steps: []Step{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decode(want.encode())
			require.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
}

func TestDamagedOrders(t *testing.T) {
	whole := string(allOrders.encode())
	for name, damaged := range map[string]string{
		"nothing":       "",
		"cut off":       whole[:len(whole)-len("\x000")],
		"one more":      whole + "\x00",
		"no number":     "x" + whole,
		"too many":      "999" + whole,
		"a count below": "-" + whole,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode([]byte(damaged))
			assert.ErrorIs(t, err, errOrders)
		})
	}
}

// FuzzOrders: whatever arrives gives an error or orders that say the same
// when they are sent on.
func FuzzOrders(f *testing.F) {
	f.Add(string(allOrders.encode()))
	f.Add("")
	f.Fuzz(func(t *testing.T, record string) {
		o, err := decode([]byte(record))
		if err != nil {
			return
		}
		again, err := decode(o.encode())
		require.NoError(t, err)
		assert.Equal(t, o, again)
	})
}
