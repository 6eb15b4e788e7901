//go:build unix

package files

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var olden = time.Unix(1_000_000_000, 0)

// asChild names the environment variable that makes a test run as the child
// of itself, on the directory that it holds.
const asChild = "SBX_TEST_FILES_CHILD"

// inChild runs the calling test again in a process of its own, where it gets
// dir from childDir. prepare may change the command.
func inChild(t *testing.T, dir string, prepare func(*exec.Cmd)) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	if exe, err := os.Executable(); err == nil {
		cmd.Path = exe
	}
	cmd.Env = append(os.Environ(), asChild+"="+dir)
	if prepare != nil {
		prepare(cmd)
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
}

// assertWriteFails writes more than there is room for, to an old file, a new
// one and the file of a mount, and checks that nothing has changed.
func assertWriteFails(t *testing.T, dir string, want error) {
	t.Helper()
	large := strings.Repeat("0123456789abcdef", 1<<14) // 256 KiB
	f := tools(t, nil, mount(t, "dir", dir+"/p", "rw"), mount(t, "file", dir+"/q/file", "rw"))
	for _, p := range []string{"dir/old", "dir/new", "dir/deep/er/new", "file"} {
		err := f.Write(p, large)
		require.ErrorIs(t, err, want, p)
		assert.NotContains(t, err.Error(), dir)
	}
	assert.Equal(t, "old content", content(t, dir+"/p/old"))
	assert.Equal(t, "old content", content(t, dir+"/q/file"))
	assert.Equal(t, []string{"old"}, names(t, dir+"/p"))
	assert.Equal(t, []string{"file"}, names(t, dir+"/q"))
	for _, p := range []string{"dir/old", "dir/new", "file"} { // the control
		require.NoError(t, f.Write(p, "fits"))
	}
}

// A limit on file sizes fails a write half way, as a full disk does.
func TestWriteBeyondTheFileSizeLimit(t *testing.T) {
	dir := os.Getenv(asChild)
	if dir == "" {
		inChild(t, tree(t, "p/old = old content", "q/file = old content"), nil)
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100_000, Max: 100_000}))
	assertWriteFails(t, dir, syscall.EFBIG)
}
