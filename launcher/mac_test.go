//go:build darwin && maccheck

package launcher

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// macPlan grants dir for writing, without the file secret in it.
func macPlan(t *testing.T, dir string) platform.Plan {
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	places := policy.Places{Home: home, Cwd: dir}
	base, err := policy.ResolveBase(policy.Minimal, policy.NetworkOff, places)
	require.NoError(t, err)
	deny, err := policy.ParseDeny("./secret", dir, home, policy.Rule{Text: "--deny ./secret"})
	require.NoError(t, err)
	s, err := policy.New(policy.Spec{
		Base: base, Places: places, RequireOS: true, Denies: []policy.Deny{deny},
		Mounts: []policy.Mount{{Name: "work", Root: dir, Written: ".", Mode: policy.ReadAndWrite, Type: policy.TypeDir}},
	})
	require.NoError(t, err)
	plan, err := platform.Choose(s.Effective(), platform.Request{})
	require.NoError(t, err)
	require.Equal(t, platform.Seatbelt, plan.Backend)
	return plan
}

func macRun(t *testing.T, plan platform.Plan, argv ...string) (Captured, error) {
	cmd := Command{Argv: argv, Dir: plan.Effective.Places.Cwd, Timeout: 10 * time.Second}
	cmd.Env = Environment(plan.Effective, os.Environ(), cmd.Dir)
	return Capture(context.Background(), plan, cmd)
}

// TestMacRun runs the launcher for real: how commands end, what they see, and
// what is left.
func TestMacRun(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dir+"/open", []byte("open"), 0o644))
	require.NoError(t, os.WriteFile(dir+"/secret", []byte("secret"), 0o644))
	require.NoError(t, os.WriteFile(dir+"/plain", []byte("text"), 0o644))
	plan := macPlan(t, dir)
	for _, tc := range []struct {
		name, script, stdout string
		code                 int
	}{
		{"success", "exit 0", "", 0},
		{"own status", "exit 42", "", 42},
		{"65 of the command", "exit 65", "", 65},
		{"71 of the command", "exit 71", "", 71},
		{"ABRT", "kill -ABRT $$", "", 134},
		{"TERM", "kill -TERM $$", "", 143},
		{"read what is granted", "cat open", "open", 0},
		{"write there", "echo new > made && cat made", "new\n", 0},
		{"read what is denied", "cat secret", "", 1},
		{"move it", "mv secret away", "", 1},
		{"link it", "ln secret away", "", 1},
		{"private home and tmp", "echo x > $HOME/x && echo y > $TMPDIR/y && cat $HOME/x $TMPDIR/y", "x\ny\n", 0},
		{"the real home", "ls /Users/$USER", "", 1},
		{"the shared tmp", "echo x > /tmp/sbx-mac-check", "", 1},
		{"no descriptor is left open", "ls /dev/fd | wc -l | tr -d ' '", "", 0},
		{"getcwd", "pwd", dir + "\n", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := macRun(t, plan, "/bin/sh", "-c", tc.script)
			require.NoError(t, err)
			assert.Equal(t, tc.code, got.ExitCode, got.Stderr.Content)
			if tc.stdout != "" {
				assert.Equal(t, tc.stdout, got.Stdout.Content)
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "sbx-*", "run-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "the run's directories are gone")
}

func TestMacCommandThatCannotStart(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dir+"/plain", []byte("text"), 0o644))
	require.NoError(t, os.WriteFile(dir+"/broken", []byte("no program"), 0o755))
	plan := macPlan(t, dir)
	for name, notFound := range map[string]bool{"no-such": true, dir + "/plain": false, dir: false, dir + "/broken": false, "/usr/bin/sudo": false} {
		_, err := macRun(t, plan, name)
		var ce *CommandError
		if assert.ErrorAs(t, err, &ce, name) {
			assert.Equal(t, notFound, ce.NotFound, name)
		}
	}
}

func TestMacTimeoutEndsTheSession(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	plan := macPlan(t, dir)
	cmd := Command{Argv: []string{"/bin/sh", "-c", "trap '' TERM; sleep 97 & echo $!; wait; sleep 97"}, Dir: dir, Timeout: 300 * time.Millisecond, Grace: 200 * time.Millisecond}
	cmd.Env = Environment(plan.Effective, os.Environ(), dir)
	got, err := Capture(context.Background(), plan, cmd)
	require.NoError(t, err)
	assert.True(t, got.TimedOut)
	assert.Equal(t, 124, got.ExitCode)
	assert.Error(t, exec.Command("/bin/kill", "-0", firstWord(got.Stdout.Content)).Run(), "the child has ended too")
}

func firstWord(s string) string {
	for i := range s {
		if s[i] == '\n' {
			return s[:i]
		}
	}
	return s
}

// TestMacInheritance leaves a descriptor open and signals ignored.
func TestMacInheritance(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	f, err := os.Open("/private/etc/master.passwd")
	if err != nil {
		f, err = os.Open("/private/etc/ttys")
	}
	require.NoError(t, err)
	defer f.Close()
	leak, err := syscall.Dup(int(f.Fd())) // without close-on-exec
	require.NoError(t, err)
	defer unix.Close(leak)
	plan := macPlan(t, dir)
	got, err := macRun(t, plan, "/bin/sh", "-c", "for n in 3 4 5 6 7 8 9; do cat <&$n; done 2>/dev/null; trap")
	require.NoError(t, err)
	assert.Empty(t, got.Stdout.Content)
}
