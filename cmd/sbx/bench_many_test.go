//go:build linux

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkThousandDenied measures what a thousand denied paths add to a run,
// interleaved with the run without them.
func BenchmarkThousandDenied(b *testing.B) {
	dir := manyPaths(b)
	b.Run("directories", func(b *testing.B) {
		added(b, []string{"--rw", dir}, flags("--deny", numbered(1000, dir+"/d%04d")))
	})
	b.Run("files", func(b *testing.B) {
		added(b, []string{"--rw", dir}, flags("--deny", numbered(1000, dir+"/f%04d")))
	})
}

// BenchmarkThousandGranted measures what a thousand granted paths add.
func BenchmarkThousandGranted(b *testing.B) {
	dir := manyPaths(b)
	paths := numbered(1000, dir+"/d%04d")
	b.Run("read-only", func(b *testing.B) { added(b, nil, flags("--ro", paths)) })
	b.Run("half-writable", func(b *testing.B) {
		added(b, nil, slices.Concat(flags("--ro", paths[:500]), flags("--rw", paths[500:])))
	})
}

func manyPaths(b *testing.B) string {
	b.Helper()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	require.NoError(b, err)
	for i := range 1000 {
		require.NoError(b, os.Mkdir(fmt.Sprintf("%s/d%04d", dir, i), 0o755))
		require.NoError(b, os.WriteFile(fmt.Sprintf("%s/f%04d", dir, i), []byte("secret"), 0o644))
	}
	return dir
}

// added reports the difference of the medians, and how much of it passes
// before anything is started, which "policy render" shows.
func added(b *testing.B, base, more []string) {
	run := func(verb []string, args ...[]string) []string {
		return slices.Concat([]string{binary}, verb, slices.Concat(args...))
	}
	const rounds = 15
	command := []string{"--", "true"}
	for b.Loop() {
		var with, without, rendered, renderedNone []time.Duration
		for range rounds {
			with = append(with, timeOf(b, run([]string{"run"}, base, more, command)))
			without = append(without, timeOf(b, run([]string{"run"}, base, command)))
			rendered = append(rendered, timeQuiet(b, run([]string{"policy", "render"}, base, more)))
			renderedNone = append(renderedNone, timeQuiet(b, run([]string{"policy", "render"}, base)))
		}
		b.ReportMetric((median(with)-median(without))*1e3, "ms_added")
		b.ReportMetric((median(rendered)-median(renderedNone))*1e3, "ms_of_that_policy")
	}
}

func timeQuiet(b *testing.B, argv []string) time.Duration {
	b.Helper()
	start := time.Now()
	require.NoError(b, exec.Command(argv[0], argv[1:]...).Run())
	return time.Since(start)
}
