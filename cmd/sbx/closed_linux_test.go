package main_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// noMountsArg makes this test binary a launcher for the rest of its
// arguments: as root of a container, who sees all files and mounts nothing.
const noMountsArg = "without-sys-admin"

func init() {
	if len(os.Args) > 2 && os.Args[1] == noMountsArg {
		runtime.LockOSThread()
		var err error
		if os.Getuid() == 0 {
			err = unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_ADMIN, 0, 0, 0)
		}
		if err == nil {
			err = syscall.Exec(os.Args[2], os.Args[2:], os.Environ())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
}

// closedRepository makes ws/theirs, which only its owner may search, with a
// repository in which everybody may write. Root gives it to another user; for
// others it is their own, and nothing is out of reach.
func closedRepository(t *testing.T, w *world) (dir string) {
	t.Helper()
	w.write("ws/theirs/repo/.git/hooks/pre-commit", "theirs\n")
	w.write("ws/theirs/repo/key", "secret\n")
	dir = w.cwd + "/theirs"
	for _, p := range []string{"/repo", "/repo/.git", "/repo/.git/hooks", "/repo/.git/hooks/pre-commit"} {
		require.NoError(t, os.Chmod(dir+p, 0o777))
	}
	require.NoError(t, os.Chmod(dir, 0o700))
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(dir, 65534, 65534))
	}
	return dir
}

// byUser chooses what is expected of root and of everybody else.
func byUser[T any](root, others T) T {
	if os.Getuid() == 0 {
		return root
	}
	return others
}

// TestClosedDirectoryOpens: what is protected or denied below a directory of
// another user stays so once its owner opens that during the run.
func TestClosedDirectoryOpens(t *testing.T) {
	const script = `cat theirs/repo/key 2>/dev/null || echo closed; echo; read go
		cat theirs/repo/key
		cd theirs/repo
		echo mine > beside
		echo mine > .git/hooks/pre-commit
		echo mine > .git/hooks/new
		mv .git gone
		test -e .git/hooks/new || test -e gone/hooks/new || echo no hook`
	for _, row := range []struct {
		name   string
		argv   []string
		stdout string
		hook   string
	}{
		{"outside", []string{"/bin/sh", "-c", script}, "secret\n\nsecret\n", "gone/hooks/pre-commit: mine\n"},
		{"inside", []string{binary, "run", "--rw", ".", "--deny", "theirs/repo/key", "-c", script},
			byUser("closed\n", "") + "\nno hook\n", ".git/hooks/pre-commit: theirs\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			dir := closedRepository(t, w)
			cmd := exec.Command(row.argv[0], row.argv[1:]...)
			w.place(cmd)
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			var complaints bytes.Buffer
			cmd.Stderr = &complaints
			require.NoError(t, cmd.Start())
			lines := bufio.NewReader(out)
			look, err := lines.ReadString('\n')
			require.NoError(t, err, complaints.String())
			require.NoError(t, os.Chmod(dir, 0o777))
			_, err = io.WriteString(in, "go\n")
			require.NoError(t, err)
			rest, err := io.ReadAll(lines)
			require.NoError(t, err)
			_ = cmd.Wait() // the status of its last command
			assert.Equal(t, row.stdout, look+string(rest), complaints.String())
			assert.FileExists(t, dir+"/repo/beside", "the directory was open: %s", complaints.String())
			name, want, _ := strings.Cut(row.hook, ": ")
			hook, err := os.ReadFile(dir + "/repo/" + name)
			require.NoError(t, err)
			assert.Equal(t, want, string(hook))
		})
	}
}

// TestGrantInClosedDirectory: root can grant what lies in another user's home,
// and a command reaches that and nothing beside it.
func TestGrantInClosedDirectory(t *testing.T) {
	w := newWorld(t)
	dir := closedRepository(t, w)
	w.write("ws/theirs/beside", "secret\n")
	script := "cat theirs/repo/key; echo new > theirs/repo/new; cat theirs/beside"
	assert.Equal(t, ended{stdout: "secret\nsecret\n"}, w.outside("/bin/sh", "-c", script), "the control arm")
	require.NoError(t, os.Remove(dir+"/repo/new"))
	got := w.sbx("run", "--rw", "theirs/repo", "-c", "cd "+w.cwd+" && "+script)
	assert.Equal(t, "secret\n", got.stdout, got.stderr)
	assert.Equal(t, 1, got.code)
	assert.FileExists(t, dir+"/repo/new")
}

// TestClosedDirectoryWithoutStaging: where sbx cannot mount anything itself,
// the run stops with the directory and what to do, and that works.
func TestClosedDirectoryWithoutStaging(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	for _, lack := range []string{refuseArg, noMountsArg} {
		t.Run(lack, func(t *testing.T) {
			w := newWorld(t)
			dir := closedRepository(t, w)
			run := func(args ...string) ended {
				return w.outside(append([]string{self, lack, binary, "run", "--rw", "."}, args...)...)
			}
			got := run("--", "echo", "ran")
			assert.Equal(t, byUser(125, 0), got.code, got.stderr)
			assert.Equal(t, byUser("", "ran\n"), got.stdout)
			if os.Getuid() == 0 {
				assert.Equal(t, "sbx: cannot build the sandbox: mount "+dir+"/repo: "+dir+" is closed to root in a sandbox, "+
					"and this machine does not let sbx mount anything below it\n"+
					"sbx: hint: run it as the owner of "+dir+", or leave it out: --deny "+dir+"\n", got.stderr)
			}
			assert.Equal(t, ended{stdout: "ran\n"}, run("--deny", dir, "--", "echo", "ran"))
		})
	}
}
