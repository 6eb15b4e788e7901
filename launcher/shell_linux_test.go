package launcher_test

import (
	"context"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/platform"
)

func TestShell(t *testing.T) {
	dir := t.TempDir()
	plan := sandbox{rw: []string{dir}}.plan(t)
	ctx := context.Background()

	got, err := launcher.Shell(ctx, plan, "cat; echo error >&2; exit 3", launcher.ShellOptions{Dir: dir, Stdin: strings.NewReader("input")})
	require.NoError(t, err)
	assert.Equal(t, "input", got.Stdout.Content)
	assert.Equal(t, "error\n", got.Stderr.Content)
	assert.Equal(t, 3, got.ExitCode)
	assert.Zero(t, got.Signal)
	assert.Equal(t, platform.Bwrap, got.Backend)
	assert.NotEmpty(t, got.Guarantees)
	assert.Positive(t, got.Duration)

	got, err = launcher.Shell(ctx, plan, "kill -TERM $$", launcher.ShellOptions{})
	require.NoError(t, err)
	assert.Equal(t, syscall.SIGTERM, got.Signal)
	assert.Equal(t, 143, got.ExitCode)

	got, err = launcher.Shell(ctx, plan, "sleep 60", launcher.ShellOptions{Timeout: 100 * time.Millisecond})
	require.NoError(t, err)
	assert.True(t, got.TimedOut)
	assert.Equal(t, []string{"the command was ended after 100ms"}, got.Notes)

	got, err = launcher.Shell(ctx, plan, "cat /etc/shadow", launcher.ShellOptions{})
	require.NoError(t, err)
	require.Len(t, got.Notes, 1)
	assert.Contains(t, got.Notes[0], "Cannot read '/etc/shadow': path is outside sandbox.\nReadable paths: "+dir)
}

// TestShellDoesNotWaitForItsInput gives a command that reads nothing an input
// that never ends.
func TestShellDoesNotWaitForItsInput(t *testing.T) {
	never, w := io.Pipe()
	defer w.Close()
	got, err := launcher.Shell(context.Background(), sandbox{}.plan(t), "echo done", launcher.ShellOptions{Stdin: never})
	require.NoError(t, err)
	assert.Equal(t, "done\n", got.Stdout.Content)
}

// TestShellLeaksNothing runs many in one process and counts what it holds.
func TestShellLeaksNothing(t *testing.T) {
	for _, backend := range []platform.Backend{platform.Bwrap, platform.Builtin} {
		t.Run(string(backend), func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			plan, err := platform.Choose(sandbox{}.plan(t).Effective, platform.Request{Backend: backend})
			require.NoError(t, err)
			once := func() {
				got, err := launcher.Shell(context.Background(), plan, "sleep 60 & cat", launcher.ShellOptions{Stdin: strings.NewReader("x")})
				require.NoError(t, err)
				require.Equal(t, "x", got.Stdout.Content)
				_, err = launcher.Shell(context.Background(), plan, "true", launcher.ShellOptions{Dir: "/no/such/directory"})
				require.Error(t, err)
			}
			once()
			files, routines, memory := openFiles(t), runtime.NumGoroutine(), heap()
			for range 20 {
				once()
			}
			for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > routines; time.Sleep(time.Millisecond) {
				require.True(t, time.Now().Before(deadline), "goroutines are left")
			}
			assert.Equal(t, files, openFiles(t))
			assert.Less(t, heap(), memory+1<<20, "a run leaves less than 25 KiB")
			left, err := os.ReadDir(os.TempDir())
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// heap is what is in use, after a collection.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(files)
}
