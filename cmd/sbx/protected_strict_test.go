//go:build linux

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// records lists what sbx remembers of placeholders in a world.
func (w *world) records() []string {
	names, _ := filepath.Glob(w.home + "/.local/state/sbx/placeholders/*")
	return names
}

// TestStrict tries to make what is not there. The control arm is the same run
// without strict (PM03).
func TestStrict(t *testing.T) {
	for _, row := range []struct{ name, script string }{
		{"a directory", "mkdir .opencode"},
		{"a file", "echo x > .mcp.json"},
		{"by rename", "mkdir new && touch new/a && mv -T new .claude"},
		{"by link", "ln -s conf .cursor"},
		{"by hard link", "ln f .bashrc"},
		{"in a directory that is not there", "mkdir -p .config/fish && echo x > .config/fish/config.fish"},
		{"another common directory of git", "echo ../evil > .git/commondir"},
		{"a worktree's configuration", "echo x > .git/config.worktree"},
		{"in a repository inside", "echo x > vendor/sub/.envrc"},
		{"a policy file", "echo x > sbx.yaml"},
		{"what a deny names", "echo x > secret"},
		{"replace the placeholder", "mv .husky away; mkdir .husky"},
		{"delete the placeholder", "rmdir .husky && mkdir .husky"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.workspace()
			before := contents(t, w.dir)
			got := w.sbx("run", "--rw", ".", "--deny", "./secret", "--protect", "strict", "-c", row.script)
			assert.NotZero(t, got.code, "got through: %s", got.stdout)
			assert.NotEqual(t, 125, got.code, got.stderr)
			assert.NotContains(t, got.stderr, "during the run")
			assert.Empty(t, w.records())
			after := contents(t, w.cwd)
			for p := range after {
				if base := filepath.Base(p); base != "new" && base != "a" {
					assert.Contains(t, before, p, "nothing is left behind")
				}
			}
			require.NoError(t, os.RemoveAll(w.cwd+"/new"))
			if strings.Contains(row.script, ".husky") {
				return // without strict there is none to move
			}
			control := w.sbx("run", "--rw", ".", "--deny", "./secret", "-c", row.script)
			assert.Zero(t, control.code, "the control arm must succeed: %s", control.stderr)
			assert.Contains(t, control.stderr, "made during the run", row.name)
		})
	}
}

// TestStrictLeavesNoTrace: git sees nothing, during the run and after it, and
// what the command makes beside a placeholder stays (PM09).
func TestStrictLeavesNoTrace(t *testing.T) {
	w := newWorld(t)
	w.workspace()
	before := w.mustOutside("git status --porcelain --ignored")
	got := w.sbx("run", "--rw", ".", "--protect", "strict", "-c",
		"git status --porcelain --ignored >&2; git add -A --dry-run . 2>/dev/null | grep -c -e husky -e bashrc; mkdir -p .config/other; echo x > .config/other/f")
	assert.Equal(t, before, got.stderr)
	assert.Equal(t, "0\n", got.stdout)
	assert.FileExists(t, w.cwd+"/.config/other/f", "it is the command's now")
	assert.NoDirExists(t, w.cwd+"/.config/fish")
	require.NoError(t, os.RemoveAll(w.cwd+"/.config"))
	assert.Equal(t, before, w.mustOutside("git status --porcelain --ignored"))

	demanded := w.sbx("run", "--rw", "conf", "--protect", "strict", "--require", "protected-files", "--", "true")
	assert.Zero(t, demanded.code, demanded.stderr)
	names, err := os.ReadDir(w.cwd + "/conf")
	require.NoError(t, err)
	assert.Len(t, names, 1)
}

// longRun starts a run and waits until its command runs. With flags it tries
// at its end to make what strict keeps it from.
func (w *world) longRun(flags ...string) (cmd *exec.Cmd, marker string) {
	w.t.Helper()
	longRuns++
	marker = fmt.Sprintf("%d.%d", 800000+os.Getpid(), longRuns)
	script := "touch here; sleep " + marker + "; mkdir .husky/x .vscode2 2>/dev/null; ls -A .husky > listed; true"
	if len(flags) == 0 {
		script = "sleep " + marker + "; true"
	}
	cmd = w.command(append(append([]string{"run", "--rw", "."}, flags...), "-c", script)...)
	require.NoError(w.t, cmd.Start())
	w.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(w.t, "the command starts", func() bool { return countSleeps(marker) >= 1 })
	return cmd, marker
}

var longRuns int

// endSleep ends the sleep of a long run, so that its command goes on.
func endSleep(t *testing.T, marker string) {
	t.Helper()
	for _, pid := range withMarker(marker) {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasPrefix(string(cmdline), "sleep") {
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		}
	}
}

// TestStrictKilled: whatever kill -9 leaves, the next run of any kind removes
// before it looks at the tree.
func TestStrictKilled(t *testing.T) {
	for _, next := range [][]string{{"run", "--rw", ".", "--", "true"}, {"run", "--rw", ".", "--protect", "strict", "--", "true"}, {"run", "--", "true"}} {
		t.Run(strings.Join(next, " "), func(t *testing.T) {
			w := newWorld(t)
			w.mustOutside("git init -q .")
			cmd, marker := w.longRun("--protect", "strict")
			assert.DirExists(t, w.cwd+"/.husky")
			assert.FileExists(t, w.cwd+"/.git/commondir")
			assert.NotEmpty(t, w.records())
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
			eventually(t, "the command ends", func() bool { return len(withMarker(marker)) == 0 })
			assert.DirExists(t, w.cwd+"/.husky", "the control arm: a killed run cannot clean up")
			require.NoError(t, os.WriteFile(w.cwd+"/.claude/mine", nil, 0o644))

			got := w.sbx(next...)
			assert.Zero(t, got.code, got.stderr)
			assert.Empty(t, w.records())
			left, err := os.ReadDir(w.cwd)
			require.NoError(t, err)
			var names []string
			for _, e := range left {
				names = append(names, e.Name())
			}
			assert.Equal(t, []string{".claude", ".git", "here"}, names, "all but what is in use by now")
			assert.NoFileExists(t, w.cwd+"/.git/commondir")
		})
	}
}

// TestStrictKilledAtAnyMoment kills strict runs at moments spread over their
// start. One more run leaves nothing of them.
func TestStrictKilledAtAnyMoment(t *testing.T) {
	w := newWorld(t)
	w.mustOutside("git init -q .")
	before := contents(t, w.cwd)
	for delay := range 15 {
		cmd := w.command("run", "--rw", ".", "--protect", "strict", "--", "sleep", "60")
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(2*delay) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	got := w.sbx("run", "--", "true")
	assert.Zero(t, got.code, got.stderr)
	assert.Equal(t, before, contents(t, w.cwd))
	assert.Empty(t, w.records())
}

// TestStrictTwice: of two runs on one workspace the first to end takes nothing
// from the other, and the last one cleans (PM11).
func TestStrictTwice(t *testing.T) {
	for name, first := range map[string]int{"the older ends first": 0, "the younger ends first": 1} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var runs [2]*exec.Cmd
			var markers [2]string
			for i := range runs {
				runs[i], markers[i] = w.longRun("--protect", "strict")
			}
			second := 1 - first
			endSleep(t, markers[first])
			require.NoError(t, runs[first].Wait())
			assert.DirExists(t, w.cwd+"/.husky", "still in use")
			require.NoError(t, os.Remove(w.cwd+"/listed"))
			endSleep(t, markers[second])
			require.NoError(t, runs[second].Wait())

			listed, err := os.ReadFile(w.cwd + "/listed")
			require.NoError(t, err)
			assert.Empty(t, string(listed), "nothing could be made in it to the end")
			assert.NoDirExists(t, w.cwd+"/.husky")
			assert.DirExists(t, w.cwd+"/.vscode2", "the control arm: other names could be made")
			assert.Empty(t, w.records())
		})
	}
}

// TestStrictBesideOthers: a run that is not strict does not report the
// placeholders of one that is, and a killed neighbour is cleaned up after.
func TestStrictBesideOthers(t *testing.T) {
	w := newWorld(t)
	cmd, marker := w.longRun()
	strict, strictMarker := w.longRun("--protect", "strict")
	got := w.sbx("run", "--rw", ".", "--", "true")
	assert.Zero(t, got.code, got.stderr)
	assert.NotContains(t, got.stderr, "during the run")
	assert.DirExists(t, w.cwd+"/.husky")
	endSleep(t, marker)
	require.NoError(t, cmd.Wait())
	endSleep(t, strictMarker)
	require.NoError(t, strict.Wait())
	assert.NoDirExists(t, w.cwd+"/.husky")
}

// TestStrictRecords: the records cannot be seen, forged or redirected from
// inside, also where they lie in a grant (PM13).
func TestStrictRecords(t *testing.T) {
	t.Run("in a grant", func(t *testing.T) {
		w := newWorld(t)
		w.env = append(w.env, "XDG_STATE_HOME="+w.cwd+"/state")
		got := w.sbx("run", "--rw", ".", "--protect", "strict", "-c",
			"mkdir -p state/sbx/placeholders/x || ln -sfn /tmp state/sbx || mv state s2 || echo x > state/sbx/placeholders/y; ls -A state/sbx")
		assert.Empty(t, got.stdout, got.stderr)
		assert.NotEqual(t, 125, got.code, got.stderr)
		left, err := os.ReadDir(w.cwd + "/state/sbx/placeholders")
		require.NoError(t, err)
		assert.Empty(t, left)
	})
	t.Run("a link in their place", func(t *testing.T) {
		w := newWorld(t)
		require.NoError(t, os.MkdirAll(w.home+"/.local/state/sbx", 0o755))
		require.NoError(t, os.Mkdir(w.dir+"/elsewhere", 0o700))
		require.NoError(t, os.Symlink(w.dir+"/elsewhere", w.home+"/.local/state/sbx/placeholders"))
		got := w.sbx("run", "--rw", ".", "--protect", "strict", "--", "true")
		assert.Equal(t, 125, got.code)
		assert.Contains(t, got.stderr, "placeholders")
		assertEmpty(t, w.cwd)
		control := w.sbx("run", "--rw", ".", "--", "true")
		assert.Zero(t, control.code, control.stderr)
	})
	t.Run("a directory that others write to", func(t *testing.T) {
		w := newWorld(t)
		dir := w.home + "/.local/state/sbx/placeholders"
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.Chmod(dir, 0o777))
		got := w.sbx("run", "--rw", ".", "--protect", "strict", "--", "true")
		assert.Equal(t, 125, got.code)
		assert.Contains(t, got.stderr, "this user alone")
	})
	t.Run("a record of somebody's directory", func(t *testing.T) {
		w := newWorld(t)
		dir := w.home + "/.local/state/sbx/placeholders"
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.Mkdir(w.cwd+"/mine", 0o755))
		for name, text := range map[string]string{"garbage": "{", "forged": `{"Path":"` + w.cwd + `/mine"}`} {
			require.NoError(t, os.WriteFile(dir+"/"+name, []byte(text), 0o600))
		}
		got := w.sbx("run", "--", "true")
		assert.Zero(t, got.code, got.stderr)
		assert.DirExists(t, w.cwd+"/mine", "a record must carry the name of its path")
		assert.Empty(t, w.records())
	})
}

// TestStrictFromFile: the key of a policy file does what the flag does, and
// the flag wins.
func TestStrictFromFile(t *testing.T) {
	w := newWorld(t)
	w.write("ws/sbx.yaml", "sandbox: {root: ., protect: strict}\n")
	got := w.sbx("run", "-c", "echo x > .envrc")
	assert.NotZero(t, got.code)
	assert.NoFileExists(t, w.cwd+"/.envrc")
	check := w.sbx("check", "write", ".envrc")
	assert.Equal(t, 1, check.code, check.stdout)
	got = w.sbx("run", "--protect", "existing", "-c", "echo x > .envrc")
	assert.Zero(t, got.code, got.stderr)
	wrong := w.sbx("run", "--protect", "strickt", "--", "true")
	assert.Equal(t, 125, wrong.code)
	assert.Contains(t, wrong.stderr, "did you mean strict?")
}
