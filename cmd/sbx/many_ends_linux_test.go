package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manyArgs grants 300 directories of a world, which are staged, beside more.
func (w *world) manyArgs(more ...string) []string {
	w.t.Helper()
	dirs := numbered(300, w.dir+"/many/d%03d")
	for _, d := range dirs {
		require.NoError(w.t, os.MkdirAll(d, 0o755))
	}
	return append([]string{"run"}, append(flags("--ro", dirs), more...)...)
}

// TestManySwappedForLink is TestRootSwappedForLink for staged mounts: the
// builder looks again at what the launcher has opened, and what it finds must
// be the same.
func TestManySwappedForLink(t *testing.T) {
	w := newWorld(t)
	w.write("secret/name", "secret")
	w.write("real/name", "real")
	args := w.manyArgs("--rw", w.dir+"/root", "--", "cat", w.dir+"/root/name")
	root := w.dir + "/root"
	require.NoError(t, os.Symlink(w.dir+"/secret", w.dir+"/link"))
	require.NoError(t, os.Rename(w.dir+"/real", root))

	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			_ = os.Rename(root, w.dir+"/real")
			_ = os.Rename(w.dir+"/link", root)
			time.Sleep(rand.N(5 * time.Millisecond))
			_ = os.Rename(root, w.dir+"/link")
			_ = os.Rename(w.dir+"/real", root)
			time.Sleep(rand.N(30 * time.Millisecond))
		}
	}()
	counts := map[string]int{}
	for range 60 {
		got := w.sbx(args...)
		switch {
		case got.stdout == "real":
			counts["right"]++
		case got.stdout == "secret":
			counts["wrong"]++
		default:
			counts["refused"]++
			assert.NotEmpty(t, got.stderr)
		}
	}
	stop.Store(true)
	<-done
	t.Logf("60 launches: %v", counts)
	assert.Zero(t, counts["wrong"])
	assert.NotZero(t, counts["right"], "the test is void if no launch gets through")
}

// builder finds the process that stages mounts for a run, 0 if there is none.
func builder(sbx int) int {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", sbx))
	for _, task := range tasks {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", sbx, task.Name()))
		for _, pid := range strings.Fields(string(children)) {
			cmdline, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			if bytes.Contains(cmdline, []byte("sbx-stage")) {
				var n int
				_, _ = fmt.Sscan(pid, &n)
				return n
			}
		}
	}
	return 0
}

// TestKillWhileStaging kills sbx, or the process that builds for it, at
// moments spread over the start.
func TestKillWhileStaging(t *testing.T) {
	for name, victim := range map[string]func(sbx int) int{
		"sbx":         func(sbx int) int { return sbx },
		"the builder": builder,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			marker := fmt.Sprintf("%d.%d", 800000+os.Getpid(), len(name))
			args := w.manyArgs("--rw", ".", "--", "sleep", marker)
			met := 0
			for delay := range 20 {
				cmd := w.command(args...)
				said, err := os.CreateTemp(w.dir, "stderr") // not a pipe: whatever survives must not stop the test
				require.NoError(t, err)
				defer said.Close()
				cmd.Stderr = said
				require.NoError(t, cmd.Start())
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				for builder(cmd.Process.Pid) == 0 && len(ended) == 0 && countSleeps(marker) == 0 {
					time.Sleep(100 * time.Microsecond)
				}
				time.Sleep(time.Duration(delay) * 300 * time.Microsecond)
				if pid := victim(cmd.Process.Pid); pid > 0 && syscall.Kill(pid, syscall.SIGKILL) == nil && pid != cmd.Process.Pid {
					met++
				}
				select {
				case <-ended:
					text, err := os.ReadFile(said.Name())
					require.NoError(t, err)
					assert.NotContains(t, string(text), "panic")
				case <-time.After(200 * time.Millisecond): // killed too late to matter
					_ = cmd.Process.Kill() // may have ended by now
					<-ended
				}
			}
			t.Logf("the builder was met %d times", met)
			eventually(t, "all processes end", func() bool { return len(withMarker(marker)) == 0 })
			assertEmpty(t, w.cwd)
		})
	}
}
