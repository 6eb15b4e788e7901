package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkStartup measures sbx against bare bubblewrap with the same mounts,
// interleaved in one run: machines differ and are noisy, ratios are not. The
// metrics are ratios of medians, and of minima, which other load moves less.
//
// Budget: 1.5 of bare bubblewrap, with --json as well, and 0.8 for the
// built-in backend.
func BenchmarkStartup(b *testing.B) {
	b.Run("plain", func(b *testing.B) { startup(b, []string{binary, "run", "--quiet", "--", "true"}) })
	b.Run("json", func(b *testing.B) { startup(b, []string{binary, "run", "--quiet", "--json", "--", "true"}) })
	b.Run("builtin", func(b *testing.B) {
		startup(b, []string{binary, "run", "--quiet", "--backend", "builtin", "--", "true"})
	})
}

func startup(b *testing.B, sbx []string) {
	b.Helper()
	bare := bareBwrap(b)
	const rounds = 100
	for b.Loop() {
		var with, without []time.Duration
		for range rounds {
			with = append(with, timeOf(b, sbx))
			without = append(without, timeOf(b, bare))
		}
		b.ReportMetric(median(with)/median(without), "x_bwrap")
		b.ReportMetric(slices.Min(with).Seconds()/slices.Min(without).Seconds(), "x_minima")
		b.ReportMetric(median(with)*1e3, "ms_sbx")
		b.ReportMetric(median(without)*1e3, "ms_bwrap")
	}
}

// bareBwrap is the command line that "sbx policy render" prints.
func bareBwrap(b *testing.B) []string {
	out, err := exec.Command(binary, "policy", "render", "--json").Output()
	require.NoError(b, err)
	var rendered struct{ Argv []string }
	require.NoError(b, json.Unmarshal(out, &rendered))
	return append(rendered.Argv, "--", "true")
}

func timeOf(b *testing.B, argv []string) time.Duration {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	require.NoError(b, cmd.Run())
	return time.Since(start)
}

func median(times []time.Duration) float64 {
	slices.Sort(times)
	return times[len(times)/2].Seconds()
}
