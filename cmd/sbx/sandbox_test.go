package main_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// world is a home and a working directory made for one test.
type world struct {
	t    *testing.T
	dir  string // parent of all, canonical
	home string
	cwd  string
	env  []string // added to the environment of every run
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, dir: dir, home: dir + "/home", cwd: dir + "/ws"}
	require.NoError(t, os.Mkdir(w.home, 0o755))
	require.NoError(t, os.Mkdir(w.cwd, 0o755))
	require.NoError(t, os.Mkdir(w.dir+"/tmp", 0o700))
	return w
}

// write makes a file below dir, with its directories.
func (w *world) write(name, content string) string {
	w.t.Helper()
	p := filepath.Join(w.dir, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(w.t, os.WriteFile(p, []byte(content), 0o644))
	return p
}

// ended is how a process ended.
type ended struct {
	code           int
	stdout, stderr string
}

// command prepares the built sbx in this world.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	w.place(cmd)
	return cmd
}

func (w *world) place(cmd *exec.Cmd) {
	cmd.Dir = w.cwd
	cmd.Env = append([]string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "XDG_CACHE_HOME=" + w.dir + "/cache", "TMPDIR=" + w.dir + "/tmp"}, w.env...)
}

func (w *world) sbx(args ...string) ended {
	w.t.Helper()
	return w.finish(w.command(args...))
}

// outside runs the same command without sbx: the control arm.
func (w *world) outside(argv ...string) ended {
	w.t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	w.place(cmd)
	return w.finish(cmd)
}

func (w *world) finish(cmd *exec.Cmd) ended {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(w.t, err)
	}
	return ended{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}
