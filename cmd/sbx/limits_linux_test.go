package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The programs that use something up. Each is bounded also without its limit:
// a minute at most, and never more than a few hundred megabytes or processes.
const (
	hog = `
import time
held = []
for _ in range(50):
    held.append(bytearray(8 << 20))
    time.sleep(0.01)
time.sleep(60)
`
	family = `
import os, time
block = bytearray(60 << 20)
for _ in range(3):
    if os.fork() == 0:
        held = bytearray(%d << 20)
        break
time.sleep(%s)
`
)

// TestEndedByItsLimit is what each limit does to a command that goes over it:
// a reason by name, nothing left, and sbx back within two seconds of the
// moment that the limit is reached. That moment is the time-out itself, the
// second of processor time, and the start for the rest, who need no time to
// speak of. What a slow or busy machine takes beyond that is told by a run of
// nothing, which is the control.
func TestEndedByItsLimit(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		w.write("ws/hog.py", hog)
		w.write("ws/family.py", fmt.Sprintf(family, 40, "60"))
		marker := fmt.Sprintf("%d.4", 200000+os.Getpid())
		nothing := time.Now()
		require.Zero(t, w.sbx(run("--ro", ".", "--", "/usr/bin/python3", "-c", "")...).code)
		slowness := 20 * time.Since(nothing)
		reached := map[string]time.Duration{"timeout=500ms": 500 * time.Millisecond, "cpu=1s": time.Second}
		for _, row := range []struct {
			name, limit string
			command     []string
			code        int // 0: any but success
			reason      string
		}{
			{"a memory hog", "memory=100MiB", []string{"/usr/bin/python3", "hog.py"}, 137, "ended by its limit memory=100MiB"},
			{"a family of them", "memory=150MiB", []string{"/usr/bin/python3", "family.py"}, 137, "limit memory=150MiB"},
			{"a fork bomb", "processes=24", []string{"perl", "-e", "for (1..400) { fork } sleep 60"}, 137, "ended by its limit processes=24"},
			{"a fork bomb of a shell", "processes=24", []string{"bash", "-c", "bomb() { bomb | bomb & }; bomb; sleep 60"}, 137, "ended by its limit processes=24"},
			{"sleepers", "processes=24", []string{"sh", "-c", "i=0; while [ $i -lt 40 ]; do sleep " + marker + " & i=$((i+1)); done; wait"}, 0, "limit processes=24"},
			{"a busy loop", "cpu=1s", []string{"sh", "-c", "while :; do :; done"}, 152, "ended by its limit cpu=1s"},
			{"a busy child", "cpu=1s", []string{"sh", "-c", "sh -c 'while :; do :; done'; exit $?"}, 152, "ended by its limit cpu=1s"},
			{"a file that grows", "file_size=1MiB", []string{"sh", "-c", "cat /dev/zero > $TMPDIR/file"}, 153, "ended by its limit file_size=1MiB"},
			{"a disk filler", "tmp=2MiB", []string{"sh", "-c", "i=0; while [ $i -lt 64 ]; do head -c 1M /dev/zero > $TMPDIR/$i || exit 9; i=$((i+1)); done; sleep 60"}, 0, "tmp="},
			{"a bomb that leaves its session", "processes=24", []string{"perl", "-MPOSIX", "-e", "for (1..8) { fork; setsid } 1 while times < 600"}, 137, "ended by its limit processes=24"},
			{"TERM ignored", "timeout=500ms", []string{"sh", "-c", "trap '' TERM; sleep 60; sleep 60"}, 124, "ended after 500ms"},
			{"endless output", "timeout=500ms", []string{"yes"}, 124, "ended after 500ms"},
			{"sleep infinity", "timeout=500ms", []string{"sleep", "infinity"}, 124, "ended after 500ms"},
			{"too many open files", "open_files=32", []string{"sh", "-c", "/usr/bin/python3 -c 'f = [open(\"/dev/null\") for _ in range(99)]'"}, 1, "may have run into its limit open_files=32"},
		} {
			t.Run(row.name, func(t *testing.T) {
				begun := time.Now()
				o, got := w.result(w.command(run(append([]string{"--json", "--ro", ".", "--limit", row.limit, "--"}, row.command...)...)...))
				took := time.Since(begun)
				if row.code == 0 {
					assert.NotZero(t, o.ExitCode)
				} else {
					assert.Equal(t, row.code, o.ExitCode, "%+v", o)
				}
				assert.Contains(t, strings.Join(o.Notes, "\n"), row.reason, "%+v", o)
				assert.Empty(t, got.stderr)
				assert.Less(t, took, reached[row.limit]+2*time.Second+slowness)
				assert.Zero(t, countSleeps(marker))
			})
		}
	})
}

// TestWithinItsLimit is the control arm: the same programs with enough.
func TestWithinItsLimit(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		// Four processes share 60 MiB: 240 if each counted it for itself.
		w.write("ws/family.py", fmt.Sprintf(family, 1, "0.3"))
		for _, row := range []struct {
			name, limit string
			command     []string
		}{
			{"memory that is shared", "memory=180MiB", []string{"/usr/bin/python3", "family.py"}},
			{"exactly as many processes", "processes=4", []string{"sh", "-c", "sleep 0.3 & sleep 0.3 & sleep 0.3 & wait"}},
			{"one process", "processes=1", []string{"sh", "-c", "exit 0"}},
			{"time", "cpu=1h", []string{"true"}},
			{"a file as large", "file_size=1MiB", []string{"sh", "-c", "head -c 1M /dev/zero > $TMPDIR/file"}},
			{"private files", "tmp=4MiB", []string{"sh", "-c", "head -c 1M /dev/zero > $TMPDIR/file; sleep 0.2"}},
			{"open files", "open_files=32", []string{"sh", "-c", "[ $(ulimit -n) = 32 ] && [ $(ulimit -Hn) = 32 ]"}},
			{"an absurd number", "memory=8EiB", []string{"true"}},
		} {
			t.Run(row.name, func(t *testing.T) {
				o, got := w.result(w.command(run(append([]string{"--json", "--ro", ".", "--limit", row.limit, "--"}, row.command...)...)...))
				if row.limit == "memory=8EiB" { // more than can be counted is refused, not taken for something else
					require.NotNil(t, o.Error)
					assert.Equal(t, 125, got.code)
					return
				}
				assert.Zero(t, o.ExitCode, "%+v", o)
			})
		}
	})
}

// TestReasonOfALimitInAPlainRun is the one line that a plain run says.
func TestReasonOfALimitInAPlainRun(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		w.write("ws/hog.py", hog)
		got := w.sbx(run("--ro", ".", "--limit", "memory=64MiB", "--", "/usr/bin/python3", "hog.py")...)
		assert.Equal(t, 137, got.code)
		assert.Equal(t, "sbx: the command was ended by its limit memory=64MiB\n", got.stderr)
	})
}

// TestStrictLimits refuses to start where the kernel would not keep a limit,
// and says so in the report elsewhere.
func TestStrictLimits(t *testing.T) {
	w := newWorld(t)
	w.write("strict.yaml", "version: 1\nsandbox:\n  root: ./ws\n  limits: {tmp: 8MiB, strict: true}\n")
	w.write("lenient.yaml", "version: 1\nsandbox:\n  root: ./ws\n  limits: {tmp: 8MiB}\n")
	run := func(backend, file string) (runOutcome, ended) {
		return w.result(w.command("run", "--json", "--quiet", "--backend", backend, "--config", w.dir+"/"+file, "--", "true"))
	}
	o, got := run("bwrap", "strict.yaml")
	assert.Zero(t, got.code, "%+v", o)
	assert.Empty(t, o.Notes)
	o, got = run("builtin", "strict.yaml")
	assert.Equal(t, 125, got.code)
	require.NotNil(t, o.Error)
	assert.Equal(t, "limit", o.Error.Kind)
	assert.Contains(t, o.Error.Message, "tmp=8MiB")
	o, got = run("builtin", "lenient.yaml")
	assert.Zero(t, got.code)
	assert.Contains(t, strings.Join(o.Notes, "\n"), "limit tmp=8MiB is watched")
}

// TestLimitsLeaveNoGroups looks for control groups that runs have made, after
// ordinary ends and after sbx was killed.
func TestLimitsLeaveNoGroups(t *testing.T) {
	w := newWorld(t)
	limits := []string{"run", "--quiet", "--limit", "memory=100MiB", "--limit", "processes=50", "--"}
	for range 3 {
		cmd := w.command(append(limits, "sleep", "60")...)
		require.NoError(t, cmd.Start())
		eventually(t, "the command runs", func() bool { return child(child(child(cmd.Process.Pid))) > 0 })
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	eventually(t, "the next run sweeps", func() bool {
		require.Zero(t, w.sbx(append(limits, "true")...).code)
		return len(ownGroups()) == 0
	})
}

// ownGroups lists the groups of runs that are over. Those of a live run are
// locked, and belong to somebody else.
func ownGroups() (left []string) {
	for _, pattern := range []string{"/sys/fs/cgroup/sbx-*", "/sys/fs/cgroup/*/sbx-*", "/sys/fs/cgroup/*/*/sbx-*", "/sys/fs/cgroup/*/*/*/sbx-*"} {
		found, _ := filepath.Glob(pattern)
		for _, dir := range found {
			var pid int
			_, _ = fmt.Sscanf(filepath.Base(dir), "sbx-%d-", &pid)
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
				left = append(left, dir)
			}
		}
	}
	return left
}
