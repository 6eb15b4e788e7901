package launcher_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// TestNotes gives messages of programs to a policy. Only what the policy
// refuses gets a note, whatever the words are.
func TestNotes(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"rw/secret", "ro", "hidden"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, d), 0o755))
	}
	for _, f := range []string{"rw/data", "rw/.env", "ro/data", "hidden/data"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, f), nil, 0o644))
	}
	plan := sandbox{rw: []string{root + "/rw"}, ro: []string{root + "/ro"}, deny: []string{root + "/rw/.env"}}.plan(t)
	for _, row := range []struct {
		name    string
		backend platform.Backend
		message string // R stands for the directory of all
		want    string // part of the only note; empty for none
	}{
		{"read outside", platform.Bwrap, "cat: /etc/shadow: No such file or directory", "Cannot read '/etc/shadow': path is outside sandbox.\nReadable paths: R/rw, R/ro\n--ro /etc/shadow would allow it"},
		{"what the host has in its /tmp", platform.Bwrap, "cat: R/hidden/data: No such file or directory", "Reason: private: the command sees its own /tmp"},
		{"read outside, Landlock", platform.Builtin, "cat: R/hidden/data: Permission denied", "Cannot read 'R/hidden/data'"},
		{"write outside", platform.Bwrap, "touch: cannot touch '/etc/sbx-new': No such file or directory", "Cannot write to '/etc/sbx-new': path is outside sandbox.\nWritable paths: R/rw\n--rw /etc would allow it"},
		{"write to what is read-only", platform.Bwrap, "/bin/sh: 1: cannot create R/ro/new: Read-only file system", "Cannot write to 'R/ro/new': path is read-only.\nWritable paths: R/rw\n"},
		{"the flag for it", platform.Bwrap, "/bin/sh: 1: cannot create R/ro/new: Read-only file system", "--rw R/ro would allow it"},
		{"write to what is read-only, Landlock", platform.Builtin, "bash: line 1: R/ro/data: Permission denied", "Cannot write to 'R/ro/data': path is read-only."},
		{"a relative path", platform.Bwrap, "rm: cannot remove 'ro/data': Read-only file system", "Cannot write to 'ro/data'"},
		{"a bare word", platform.Bwrap, "mkdir: ro: Read-only file system", "Cannot write to 'ro'"},
		{"typographic quotes", platform.Bwrap, "mkdir: cannot create directory ‘R/ro/new’: Read-only file system", "Cannot write to 'R/ro/new'"},
		{"python", platform.Bwrap, "FileNotFoundError: [Errno 2] No such file or directory: 'R/hidden/data'", "Cannot read 'R/hidden/data'"},
		{"node", platform.Builtin, "Error: EACCES: permission denied, open 'R/hidden/data'", "Cannot read 'R/hidden/data'"},
		{"go", platform.Builtin, "open R/hidden/data: permission denied", "Cannot read 'R/hidden/data'"},
		{"zsh", platform.Builtin, "zsh: permission denied: R/hidden/data", "Cannot read 'R/hidden/data'"},
		{"java", platform.Builtin, "java.io.FileNotFoundException: R/hidden/data (Permission denied)", "Cannot read 'R/hidden/data'"},
		{"a denied file", platform.Bwrap, "sh: 1: cannot create R/rw/.env: Read-only file system", "Reason: "},
		{"the system", platform.Bwrap, "touch: cannot touch '/usr/new': Read-only file system", "part of the read-only system base"},
		{"no path at all", platform.Bwrap, "error: Permission denied (os error 13)", "If the sandbox is the cause: readable paths are R/rw, R/ro; writable paths are R/rw"},
		{"the network", platform.Bwrap, "curl: (6) Could not resolve host: example.org", "Network access is disabled for this sandbox\n--net would allow it"},
		{"the network, Landlock", platform.Builtin, "connect: Address family not supported by protocol", "--net would allow it"},
		{"the private files are full", platform.Bwrap, "cat: write error: No space left on device", "1GiB each; --limit tmp=SIZE changes that"},

		{"an allowed path", platform.Bwrap, "cat: R/rw/data: Permission denied", ""},
		{"an allowed path, Landlock", platform.Builtin, "cat: R/rw/data: Permission denied", ""},
		{"a mode, not a mount", platform.Bwrap, "cat: R/ro/data: Permission denied", ""},
		{"a missing file in a visible place", platform.Bwrap, "cat: R/ro/absent: No such file or directory", ""},
		{"a missing file to write", platform.Bwrap, "touch: cannot touch 'R/rw/no/dir': No such file or directory", ""},
		{"the command's own /tmp", platform.Bwrap, "cat: /tmp/sbx-no-such-file: No such file or directory", ""},
		{"a full disk of the host", platform.Bwrap, "cp: error writing 'R/rw/data': No space left on device", ""},
		{"an ssh key", platform.Bwrap, "git@example.org: Permission denied (publickey).", ""},
		{"a program's own words", platform.Bwrap, "error: undefined: x", ""},
		{"a refused connection", platform.Bwrap, "curl: (7) connect to 127.0.0.1 port 80: Connection refused", ""},
		{"no limit of processes", platform.Bwrap, "sh: 0: Cannot fork", ""},
		{"characters that a terminal obeys", platform.Bwrap, "cat: /etc/\x1b[31m: No such file or directory", `Cannot read '/etc/\x1b[31m'`},
	} {
		t.Run(row.name, func(t *testing.T) {
			plan := plan
			plan.Backend = row.backend
			failed := launcher.Captured{Result: launcher.Result{ExitCode: 1}}
			failed.Stderr.Content = "some line before\n" + strings.ReplaceAll(row.message, "R/", root+"/") + "\n"
			notes := launcher.Notes(plan, launcher.Command{Dir: root}, failed)
			if row.want == "" {
				assert.Empty(t, notes)
				return
			}
			require.Len(t, notes, 1)
			assert.Contains(t, notes[0], strings.ReplaceAll(row.want, "R/", root+"/"))

			succeeded := failed
			succeeded.ExitCode = 0
			assert.Empty(t, launcher.Notes(plan, launcher.Command{Dir: root}, succeeded), "a success needs no note")
		})
	}
}

// TestNotesFollowTheNetwork asks where the network is on.
func TestNotesFollowTheNetwork(t *testing.T) {
	plan := sandbox{}.plan(t)
	plan.Effective.Network.Mode = policy.NetworkOn
	failed := launcher.Captured{Result: launcher.Result{ExitCode: 6}}
	failed.Stderr.Content = "curl: (6) Could not resolve host: example.org\n"
	assert.Empty(t, launcher.Notes(plan, launcher.Command{Dir: "/tmp"}, failed))
}

// TestNotesAreFew gives the same refusal for many files.
func TestNotesAreFew(t *testing.T) {
	plan := sandbox{}.plan(t)
	failed := launcher.Captured{Result: launcher.Result{ExitCode: 1}}
	for i := range 500 {
		failed.Stderr.Content += "cat: /root/file" + strings.Repeat("x", i) + ": No such file or directory\n"
	}
	assert.Len(t, launcher.Notes(plan, launcher.Command{Dir: "/tmp"}, failed), 8)
}

// FuzzNotes: no output makes the launcher fail, and a success has no notes.
func FuzzNotes(f *testing.F) {
	home := f.TempDir()
	places := policy.Places{Home: home, Cwd: "/"}
	base, err := policy.ResolveBase(policy.Minimal, policy.NetworkOff, places)
	require.NoError(f, err)
	sb, err := policy.New(policy.Spec{Base: base, Places: places})
	require.NoError(f, err)
	plan := platform.Plan{Backend: platform.Bwrap, Effective: sb.Effective()}
	for _, seed := range []string{"cat: /x: Permission denied", "İ: Permission denied: 'a", "No such file", "': eacces", "(Permission denied"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		c := launcher.Captured{Result: launcher.Result{ExitCode: 1}}
		c.Stderr.Content = message
		for _, note := range launcher.Notes(plan, launcher.Command{Dir: "/"}, c) {
			assert.NotEmpty(t, note)
		}
	})
}
