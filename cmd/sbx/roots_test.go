package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOddRoots grants directories with names and places that trip launchers.
func TestOddRoots(t *testing.T) {
	for _, row := range []struct{ name, dir string }{
		{"space", "a b"},
		{"quotes", `it's "quoted"`},
		{"newline", "two\nlines"},
		{"not UTF-8", "caf\xe9"},
		{"leading dash", "-rf"},
		{"glob characters", "[a]*?{b}"},
		{"backslash", `a\b`},
		{"dollar", "$HOME"},
		{"dots", "a..b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			root := filepath.Join(w.cwd, row.dir)
			require.NoError(t, os.Mkdir(root, 0o755))
			require.NoError(t, os.WriteFile(root+"/in", []byte("content"), 0o644))
			got := w.sbx("run", "--rw", "./"+row.dir, "--cwd", root, "-c", "cat in && echo new > out")
			assert.Zero(t, got.code, got.stderr)
			assert.Equal(t, "content", got.stdout)
			assert.FileExists(t, root+"/out")
		})
	}
}

// TestManyMounts grants 60 directories, every other one writable.
func TestManyMounts(t *testing.T) {
	w := newWorld(t)
	args := []string{"run"}
	script := "set -e\n"
	for i := range 60 {
		w.write(fmt.Sprintf("ws/d%02d/f", i), "x")
		dir := fmt.Sprintf("%s/d%02d", w.cwd, i)
		if i%2 == 0 {
			args = append(args, "--rw", dir)
			script += "echo y > " + dir + "/new\n"
		} else {
			args = append(args, "--ro", dir)
			script += "! ( echo y > " + dir + "/new ) 2>/dev/null\n"
		}
		script += "test -f " + dir + "/f\n"
	}
	got := w.sbx(append(args, "-c", script)...)
	assert.Zero(t, got.code, got.stderr)
}

// TestWorkspaceIsTheHome grants the home itself: everything but credentials.
func TestWorkspaceIsTheHome(t *testing.T) {
	w := newWorld(t)
	w.write("home/notes", "notes")
	w.write("home/.ssh/id_ed25519", "KEY")
	w.cwd = w.home
	got := w.sbx("run", "--rw", ".", "-c", "cat notes; cat .ssh/id_ed25519; echo x > new; ls -A .ssh")
	assert.Equal(t, "notes", got.stdout, "credentials stay hidden")
	assert.FileExists(t, w.home+"/new")

	named := w.sbx("run", "--rw", ".", "--ro", ".ssh", "-c", "cat .ssh/id_ed25519")
	assert.Equal(t, "KEY", named.stdout, "unless they are granted by name")
}

// TestLinkedPlaces uses directories that are reached through links.
func TestLinkedPlaces(t *testing.T) {
	w := newWorld(t)
	w.write("real/f", "content")
	link := w.dir + "/link"
	require.NoError(t, os.Symlink(w.dir+"/real", link))

	t.Run("the working directory", func(t *testing.T) {
		cmd := w.command("run", "--rw", ".", "-c", "cat f; pwd -P")
		cmd.Dir = link
		cmd.Env = append(cmd.Env, "PWD="+link)
		got := w.finish(cmd)
		assert.Equal(t, "content"+w.dir+"/real\n", got.stdout, got.stderr)
	})
	t.Run("the working directory by its linked name", func(t *testing.T) {
		cmd := w.command("run", "--rw", link, "-c", "cat f")
		cmd.Dir = link
		got := w.finish(cmd)
		assert.Equal(t, "content", got.stdout, got.stderr)
	})
	t.Run("a root", func(t *testing.T) {
		got := w.sbx("run", "--rw", link, "--", "true")
		assert.Equal(t, 125, got.code)
		assert.Contains(t, got.stderr, "symbolic link")
		assert.Contains(t, got.stderr, w.dir+"/real", "the hint names the target")
	})
	t.Run("a link inside a grant", func(t *testing.T) {
		require.NoError(t, os.Symlink(w.dir+"/real/f", w.cwd+"/to-f"))
		require.NoError(t, os.Symlink("/etc/shadow", w.cwd+"/to-shadow"))
		got := w.sbx("run", "--rw", ".", "--ro", w.dir+"/real", "-c", "cat to-f; cat to-shadow")
		assert.Equal(t, "content", got.stdout)
		assert.NotZero(t, got.code)
	})
}

// TestDirectoryThatIsGone starts in a directory that was deleted.
func TestDirectoryThatIsGone(t *testing.T) {
	w := newWorld(t)
	gone := w.dir + "/gone"
	require.NoError(t, os.Mkdir(gone, 0o755))
	cmd := w.outside("/bin/sh", "-c", "cd "+gone+" && rmdir "+gone+" && exec "+binary+" run -- true")
	assert.Equal(t, 125, cmd.code)
	assert.Contains(t, cmd.stderr, "current directory")
}
