package main_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withoutNamespaces prepares sbx where no user namespace can be made: inside a
// namespace whose limit of further ones is zero, as a hardened machine has it.
func (w *world) withoutNamespaces(args ...string) *exec.Cmd {
	const script = `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`
	cmd := exec.Command("unshare", append([]string{"--user", "--map-root-user", "/bin/sh", "-c", script, "sh", binary}, args...)...)
	w.place(cmd)
	return cmd
}

// insideSbx prepares sbx inside another sbx, whose filter refuses namespaces
// the way a container's does.
func (w *world) insideSbx(args ...string) *exec.Cmd {
	outer := []string{"run", "--quiet", "--rw", w.dir, "--ro", filepath.Dir(binary), "--cwd", w.cwd, "--", binary}
	return w.command(append(outer, args...)...)
}

// TestBuiltinWhereNamespacesAreShut runs the same commands as everywhere, on
// the built-in backend, and finds the same walls.
func TestBuiltinWhereNamespacesAreShut(t *testing.T) {
	for shut, prepare := range map[string]func(*world, ...string) *exec.Cmd{
		"by a limit":  (*world).withoutNamespaces,
		"by a filter": (*world).insideSbx,
	} {
		t.Run(shut, func(t *testing.T) {
			w := newWorld(t)
			w.write("ws/data.txt", "b\na\nb\n")
			w.write("outside/file", "theirs")
			require.Zero(t, w.outside("git", "init", "-q").code)

			doctor := w.finish(prepare(w, "doctor", "--json"))
			assert.Contains(t, doctor.stdout, `"backend": "builtin"`)
			forced := w.finish(prepare(w, "run", "--backend", "bwrap", "--rw", ".", "--", "true"))
			assert.Equal(t, 125, forced.code)
			assert.Contains(t, forced.stderr, "hint: ")

			for _, row := range []struct {
				name   string
				args   []string
				stdout string
			}{
				{"git", []string{"run", "--ro", ".", "--preset", "git", "--", "git", "status", "--short"}, "?? data.txt\n"},
				{"python3", []string{"run", "--rw", ".", "--", "/usr/bin/python3", "-c", "print(open('data.txt').read().count('b'))"}, "2\n"},
				{"node", []string{"run", "--ro", ".", "--", "node", "-e", "console.log(1+1)"}, "2\n"},
				{"a pipeline", []string{"run", "--ro", ".", "-c", "sort data.txt | uniq | tr '\\n' ' '"}, "a b "},
				{"a private home", []string{"run", "--rw", ".", "-c", "echo x > $HOME/f && mktemp -d > /dev/null && echo ok"}, "ok\n"},
				{"a write", []string{"run", "--rw", ".", "-c", "echo new > made && cat made"}, "new\n"},
			} {
				got := w.finish(prepare(w, row.args...))
				assert.Zero(t, got.code, "%s: %s", row.name, got.stderr)
				assert.Equal(t, row.stdout, got.stdout, row.name)
			}
			for name, script := range map[string]string{
				"read outside":  "cat ../outside/file",
				"write outside": "echo x > ../outside/new",
				"the network":   python("socket.socket()"),
			} {
				control := w.outside("/bin/sh", "-c", script)
				assert.Zero(t, control.code, "%s: the control arm must succeed: %s", name, control.stderr)
				got := w.finish(prepare(w, "run", "--rw", ".", "-c", script))
				assert.NotZero(t, got.code, name)
				assert.NotEqual(t, 125, got.code, got.stderr)
			}

			// What Landlock cannot express is refused by name, not dropped.
			refused := w.finish(prepare(w, "run", "--rw", ".", "--deny", "data.txt", "--", "true"))
			assert.Equal(t, 125, refused.code)
			assert.Contains(t, refused.stderr, "data.txt")
			demanded := w.finish(prepare(w, "run", "--require", "hidden-names", "--rw", ".", "--", "true"))
			assert.Equal(t, 125, demanded.code)
			assert.Contains(t, demanded.stderr, "hidden-names")
		})
	}
}

// TestThreeDeep: each run narrows the one around it.
func TestThreeDeep(t *testing.T) {
	w := newWorld(t)
	w.write("ws/a/b/file", "deep")
	w.write("ws/other", "other")
	sbx := func(grant string, rest ...string) []string {
		return append([]string{binary, "run", "--quiet", "--rw", grant, "--ro", filepath.Dir(binary), "--"}, rest...)
	}
	argv := sbx(w.cwd, sbx(w.cwd+"/a", sbx(w.cwd+"/a/b", "/bin/sh", "-c", "cat "+w.cwd+"/a/b/file; cat "+w.cwd+"/other")...)...)
	got := w.finish(w.command(argv[1:]...))
	assert.Equal(t, "deep", got.stdout, got.stderr)
	assert.NotZero(t, got.code)
}

// TestMissingBubblewrap covers the program with something that is none, in a
// mount namespace of its own.
func TestMissingBubblewrap(t *testing.T) {
	w := newWorld(t)
	bwrap, err := exec.LookPath("bwrap")
	require.NoError(t, err)
	without := func(args ...string) ended {
		const script = `mount --bind /dev/null "$0" && exec "$@"`
		cmd := exec.Command("unshare", append([]string{"--user", "--map-root-user", "--mount", "/bin/sh", "-c", script, bwrap, binary}, args...)...)
		w.place(cmd)
		return w.finish(cmd)
	}
	got := without("run", "--backend", "bwrap", "--", "true")
	assert.Equal(t, 125, got.code)
	assert.Contains(t, got.stderr, "bubblewrap")
	assert.Contains(t, got.stderr, "hint: ")

	got = without("doctor")
	assert.Contains(t, got.stdout, "missing  bubblewrap")
	got = without("run", "--rw", ".", "--", "touch", "made")
	assert.Zero(t, got.code, "the built-in backend serves: %s", got.stderr)
	assert.FileExists(t, w.cwd+"/made")
}
