package seccomp

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// modes are the combinations that sbx uses, by golden file.
func modes(arch Arch) map[string]Config {
	return map[string]Config{
		"strict":      {Arch: arch},
		"bwrap-off":   {Arch: arch, Namespaced: true},
		"bwrap-unix":  {Arch: arch, Namespaced: true, UnixSockets: true},
		"bwrap-proxy": {Arch: arch, Namespaced: true, Network: NetworkProxy},
		"bwrap-on":    {Arch: arch, Namespaced: true, Network: NetworkOn},
		"relaxed":     {Arch: arch, Namespaced: true, Network: NetworkOn, UnixSockets: true, Debug: true},
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "%s differs; -update rewrites it", file)
}

func TestProgramGoldens(t *testing.T) {
	t.Parallel()
	for _, arch := range []Arch{AMD64, ARM64} {
		for name, c := range modes(arch) {
			golden(t, fmt.Sprintf("%v-%s.bpf", arch, name), compiled(t, c).String())
		}
	}
}

func TestRuleGoldens(t *testing.T) {
	t.Parallel()
	for name, c := range modes(AMD64) {
		var b strings.Builder
		for _, r := range Rules(c) {
			fmt.Fprintln(&b, r)
		}
		golden(t, "rules-"+name+".txt", b.String())
	}
}
