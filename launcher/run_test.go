//go:build linux

package launcher_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// sandbox describes a policy for a test: mounts by mode, the rest default.
type sandbox struct {
	rw, ro []string
	deny   []string
}

func (s sandbox) plan(t *testing.T) platform.Plan {
	t.Helper()
	home := t.TempDir()
	places := policy.Places{Home: home, Cwd: "/"}
	base, err := policy.ResolveBase(policy.Minimal, policy.NetworkOff, places)
	require.NoError(t, err)
	spec := policy.Spec{Base: base, Places: places, RequireOS: true}
	for _, root := range s.rw {
		spec.Mounts = append(spec.Mounts, mount(t, root, policy.ReadAndWrite))
	}
	for _, root := range s.ro {
		spec.Mounts = append(spec.Mounts, mount(t, root, policy.ReadOnly))
	}
	for _, pattern := range s.deny {
		d, err := policy.ParseDeny(pattern, "/", home, policy.Rule{Text: "--deny " + pattern})
		require.NoError(t, err)
		spec.Denies = append(spec.Denies, d)
	}
	sb, err := policy.New(spec)
	require.NoError(t, err)
	e, err := sb.Effective().Expand()
	require.NoError(t, err)
	plan, err := platform.Choose(e, platform.Request{})
	require.NoError(t, err)
	return plan
}

func mount(t *testing.T, root string, mode policy.Mode) policy.Mount {
	t.Helper()
	r, err := policy.Resolve(root)
	require.NoError(t, err)
	return policy.Mount{Root: r.Path, Written: root, Mode: mode, Type: r.Type, Rule: policy.Rule{Text: "--" + mode.String() + " " + root}}
}

// output collects what the command wrote.
type output struct{ stdout, stderr string }

func run(t *testing.T, plan platform.Plan, cmd launcher.Command) (launcher.Result, output, error) {
	t.Helper()
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	errR, errW, err := os.Pipe()
	require.NoError(t, err)
	outC, errC := drain(outR), drain(errR)
	cmd.Stdout, cmd.Stderr = outW, errW
	if cmd.Dir == "" {
		cmd.Dir = launcher.Home(plan.Effective)
	}
	cmd.Env = launcher.Environment(plan.Effective, []string{"PATH=/usr/bin:/bin"}, cmd.Dir)
	result, err := launcher.Run(context.Background(), plan, cmd)
	outW.Close()
	errW.Close()
	return result, output{<-outC, <-errC}, err
}

func drain(r *os.File) <-chan string {
	c := make(chan string, 1)
	go func() {
		defer r.Close()
		b, _ := io.ReadAll(r)
		c <- string(b)
	}()
	return c
}

func shell(script string) launcher.Command {
	return launcher.Command{Argv: []string{"/bin/sh", "-c", script}}
}

func TestExitStatus(t *testing.T) {
	plan := sandbox{}.plan(t)
	for _, row := range []struct {
		name, script string
		want         int
	}{
		{"zero", "exit 0", 0},
		{"own status", "exit 42", 42},
		{"one, as bubblewrap's own failures", "exit 1", 1},
		{"125 of the command", "exit 125", 125},
		{"TERM", "kill -TERM $$", 143},
		{"KILL", "kill -KILL $$", 137},
		{"SEGV", "kill -SEGV $$", 139},
	} {
		t.Run(row.name, func(t *testing.T) {
			result, out, err := run(t, plan, shell(row.script))
			require.NoError(t, err, out.stderr)
			assert.Equal(t, row.want, result.ExitCode)
		})
	}
}

func TestCommandThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	require.NoError(t, os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o755))
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, []byte("text"), 0o644))
	plan := sandbox{ro: []string{dir}}.plan(t)
	for _, row := range []struct {
		name, command string
		notFound      bool
	}{
		{"no such command", "no-such-command", true},
		{"no such path", "/no/such/path", true},
		{"not executable", plain, false},
		{"a directory", dir, false},
		{"interpreter missing", script, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, _, err := run(t, plan, launcher.Command{Argv: []string{row.command}})
			var ce *launcher.CommandError
			require.ErrorAs(t, err, &ce)
			assert.Equal(t, row.notFound, ce.NotFound, ce.Error())
		})
	}
}

func TestViewFollowsPolicy(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"rw/secret", "ro", "hidden"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, d), 0o755))
	}
	for _, f := range []string{"rw/.env", "rw/secret/key", "ro/file", "hidden/file"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, f), []byte("content of "+f), 0o644))
	}
	plan := sandbox{
		rw:   []string{root + "/rw"},
		ro:   []string{root + "/ro"},
		deny: []string{root + "/rw/.env", root + "/rw/secret"},
	}.plan(t)
	for _, row := range []struct {
		name, script, stdout string
		fails                bool
	}{
		{"read what is granted read-only", "cat ro/file", "content of ro/file", false},
		{"write there", "echo x > ro/file", "", true},
		{"write what is granted", "echo x > rw/new && cat rw/new", "x\n", false},
		{"a denied file is empty", "cat rw/.env", "", false},
		{"and stays so", "echo x > rw/.env", "", true},
		{"a denied directory is empty", "ls -A rw/secret", "", false},
		{"and stays so too", "touch rw/secret/new", "", true},
		{"what is not granted does not exist", "cat hidden/file", "", true},
		{"the root is read-only", "touch /new", "", true},
		{"sysctls are read-only", "echo core > /proc/sys/kernel/core_pattern", "", true},
		{"home and tmp are writable", "touch $HOME/x /tmp/x", "", false},
		{"nothing else runs", "ls -d /proc/[0-9]* | wc -l | tr -d ' '", "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			result, out, err := run(t, plan, shell("cd "+root+" 2>/dev/null; "+row.script))
			require.NoError(t, err)
			assert.Equal(t, row.fails, result.ExitCode != 0, out.stderr)
			if row.stdout != "" {
				assert.Equal(t, row.stdout, out.stdout)
			}
		})
	}
	b, err := os.ReadFile(root + "/rw/.env")
	require.NoError(t, err)
	assert.Equal(t, "content of rw/.env", string(b))
}

func TestTimeout(t *testing.T) {
	plan := sandbox{}.plan(t)
	for _, row := range []struct{ name, script string }{
		{"ends at TERM", "sleep 60"},
		{"ignores TERM", "trap '' TERM; sleep 60 & wait; sleep 60"},
	} {
		t.Run(row.name, func(t *testing.T) {
			cmd := shell(row.script)
			cmd.Timeout, cmd.Grace = 100*time.Millisecond, 100*time.Millisecond
			result, _, err := run(t, plan, cmd)
			require.NoError(t, err)
			assert.True(t, result.TimedOut)
			assert.Equal(t, 124, result.ExitCode)
		})
	}
}

func TestSourceSwappedForLink(t *testing.T) {
	root := t.TempDir()
	ws, secret := root+"/ws", root+"/secret"
	for _, d := range []string{ws, secret} {
		require.NoError(t, os.Mkdir(d, 0o755))
		require.NoError(t, os.WriteFile(d+"/name", []byte(d), 0o644))
	}
	plan := sandbox{rw: []string{ws}}.plan(t)
	require.NoError(t, os.Rename(ws, ws+".away"))
	require.NoError(t, os.Symlink(secret, ws))
	_, out, err := run(t, plan, shell("cat "+ws+"/name"))
	var se *launcher.SetupError
	require.ErrorAs(t, err, &se)
	assert.Equal(t, "open", se.Step)
	assert.False(t, strings.Contains(out.stdout, "secret"))
}

func TestCancelledContext(t *testing.T) {
	plan := sandbox{}.plan(t)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := launcher.Run(ctx, plan, launcher.Command{Argv: []string{"sleep", "60"}, Dir: "/tmp", Env: []string{"PATH=/usr/bin"}})
	assert.True(t, errors.Is(err, context.Canceled), err)
}
