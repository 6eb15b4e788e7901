package stub

import (
	"bufio"
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/platform/seccomp"
)

func fullSpec() Spec {
	return Spec{
		Mounts:   []Check{{Path: "/a\xff b\n", Want: HostRW, Dev: 1 << 40, Ino: 1<<63 + 1}, {Path: "/", Want: OwnRO}},
		Dir:      "/a",
		Argv:     []string{"cmd", "", "\x80"},
		Env:      []string{"A=1"},
		Path:     []string{"/usr/bin"},
		Stderr:   7,
		Limits:   []Rlimit{{Resource: 4, Value: 0}},
		Filter:   seccomp.Config{Arch: seccomp.ARM64, Network: seccomp.NetworkOn, UnixSockets: true, Debug: true, Namespaced: true},
		Landlock: landlock.Ruleset{Files: true, Scope: landlock.ScopeSignal, Grants: []landlock.Grant{{Path: "/x", FD: 9, Access: landlock.Read | landlock.Write}}},
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	want := fullSpec()
	var got Spec
	require.NoError(t, Read(bufio.NewReader(bytes.NewReader(Encode(&want))), &got))
	assert.Equal(t, want, got)

	for _, m := range []Message{{Kind: Hello}, {Kind: Ready}, {Kind: Failed, Failure: Failure{Stage: StageExec, Path: "/p", Errno: 2, Text: "t"}}} {
		var back Message
		require.NoError(t, Read(bufio.NewReader(bytes.NewReader(Encode(&m))), &back))
		assert.Equal(t, m, back)
	}
}

// TestCutOff: every beginning of a record is refused, and none blocks or
// allocates by a length that is not there.
func TestCutOff(t *testing.T) {
	spec := fullSpec()
	whole := Encode(&spec)
	for n := range whole {
		var got Spec
		assert.Error(t, Read(bufio.NewReader(bytes.NewReader(whole[:n])), &got), "%d bytes", n)
	}
	var got Spec
	assert.ErrorIs(t, Read(bufio.NewReader(bytes.NewReader(nil)), &got), io.EOF)
}

func FuzzRead(f *testing.F) {
	spec := fullSpec()
	f.Add(Encode(&spec))
	f.Add([]byte{5, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, data []byte) {
		var got Spec
		if Read(bufio.NewReader(bytes.NewReader(data)), &got) != nil {
			return
		}
		var again Spec
		require.NoError(t, Read(bufio.NewReader(bytes.NewReader(Encode(&got))), &again))
		assert.Equal(t, got, again)
	})
}
