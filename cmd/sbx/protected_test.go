package main_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// workspace makes the working directory a repository with a linked worktree
// beside it and another repository in it, and files that tools execute.
func (w *world) workspace() {
	w.t.Helper()
	w.env = append(w.env, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	w.write("ws/f", "one\n")
	w.write("ws/vendor/sub/f", "one\n")
	w.write("ws/.vscode/tasks.json", "{}\n")
	w.write("ws/.envrc", "true\n")
	w.write("ws/.aws/config", "x\n")
	w.write("ws/.codex/config.toml", "x\n")
	w.write("ws/conf/idea/x.xml", "x\n")
	require.NoError(w.t, os.Symlink("conf/idea", w.cwd+"/.idea"))
	w.mustOutside("git init -q . && git add f && git commit -qm one && git worktree add -q ../tree")
	w.mustOutside("cd vendor/sub && git init -q . && git add f && git commit -qm one")
}

func (w *world) mustOutside(script string) string {
	w.t.Helper()
	got := w.outside("/bin/sh", "-ec", script)
	require.Zero(w.t, got.code, got.stderr)
	return got.stdout
}

// contents maps every file of a tree to its text, or a link to its target.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Type()&fs.ModeSymlink != 0:
			found[p], err = os.Readlink(p)
		case d.IsDir():
			found[p] = "directory"
		default:
			var text []byte
			text, err = os.ReadFile(p)
			found[p] = string(text)
		}
		return err
	}))
	return found
}

// TestProtectedFiles tries to change what tools execute, each in a workspace
// of its own. The control arm does the same outside, where it must work.
func TestProtectedFiles(t *testing.T) {
	for _, row := range []struct{ name, script string }{
		{"git's configuration (PM01)", "echo x >> .git/config"},
		{"agent settings (PM01)", "echo x >> .codex/config.toml"},
		{"credential processes (PM01)", "echo x >> .aws/config"},
		{"a file in a protected directory", "echo x > .vscode/new.json"},
		{"a shell hook", "echo x >> .envrc"},
		{"overwrite a git hook", "echo x > .git/hooks/pre-commit.sample"},
		{"add a git hook", "echo x > .git/hooks/pre-commit"},
		{"move a repository (PM05)", "mv .git .old && cp -r .old .git"},
		{"delete a hook directory (PM05)", "rm -r .git/hooks"},
		{"delete a protected directory", "rm -r .vscode"},
		{"move a protected directory", "mv .vscode .old"},
		{"replace a file by rename", "echo x > new && mv new .envrc"},
		{"replace a file by a link", "ln -sf /etc/passwd .envrc"},
		{"delete a file", "rm -f .envrc"},
		{"git config", "git config core.fsmonitor ./evil"},
		{"through a link (PM07)", "echo x > .idea/x.xml"},
		{"the target of a link (PM07)", "rm conf/idea/x.xml"},
		{"another link in its place", "ln -sfn vendor .idea"},
		{"move a link", "mv .idea .old"},
		{"delete a link", "rm .idea && mkdir .idea"},
		{"a repository inside (PM17)", "echo x >> vendor/sub/.git/config"},
		{"its hooks (PM17)", "echo x > vendor/sub/.git/hooks/pre-commit"},
		{"move it aside (PM17)", "mv vendor/sub vendor/old && cp -r vendor/old vendor/sub"},
		{"move what holds it", "mv vendor old && cp -r old vendor"},
		{"the way of a worktree to its repository", "echo x > .git/worktrees/tree/commondir"},
		{"the way of a worktree back", "echo x > .git/worktrees/tree/gitdir"},
		{"move a worktree's git directory", "mv .git/worktrees/tree .git/worktrees/x"},
		{"modes", "chmod 777 .git/hooks"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.workspace()
			before := contents(t, w.dir)
			got := w.sbx("run", "--rw", ".", "-c", row.script)
			assert.NotZero(t, got.code, "got through: %s", got.stdout)
			assert.NotEqual(t, 125, got.code, got.stderr)
			for p, text := range contents(t, w.dir) {
				if was, known := before[p]; known {
					assert.Equal(t, was, text, "%s is intact", p)
				}
			}
			control := w.outside("/bin/sh", "-c", row.script)
			assert.Zero(t, control.code, "the control arm must succeed: %s", control.stderr)
		})
	}
}

// TestGitWorks does what an agent does all day, in a repository and in a
// linked worktree, with all protection in place.
func TestGitWorks(t *testing.T) {
	const day = `set -e
echo two >> f; git status --short >/dev/null; git add f; git commit -qm two
echo three >> f; git stash -q; git stash pop -q; git diff --quiet && exit 9
git switch -qc topic; git commit -qam three; git merge -q --no-edit topic
git tag v1; git log --oneline | wc -l; git gc -q; git fsck >/dev/null
echo sibling > beside; git add beside; git commit -qm beside; git reset -q --hard HEAD~1; git rebase -q HEAD~1`
	for name, place := range map[string]struct {
		dir   string
		flags []string
	}{
		"a repository":      {"ws", []string{"--rw", "."}},
		"strict":            {"ws", []string{"--rw", ".", "--protect", "strict"}},
		"a linked worktree": {"tree", []string{"--rw", ".", "--rw", "../ws/.git"}},
		"strict in it":      {"tree", []string{"--rw", ".", "--rw", "../ws/.git", "--protect", "strict"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.workspace()
			w.cwd = w.dir + "/" + place.dir
			args := append([]string{"run", "--preset", "git"}, place.flags...)
			got := w.sbx(append(args, "-c", day)...)
			assert.Zero(t, got.code, got.stderr)
			assert.Equal(t, "3", strings.TrimSpace(got.stdout))
			assert.NotContains(t, got.stderr, "during the run", "git's own work is no news")
			assert.Equal(t, "topic\n", w.mustOutside("git branch --show-current; git fsck >&2"))

			for _, script := range []string{"git config a.b c", "echo x > $(git rev-parse --git-path hooks)/pre-commit"} {
				got := w.sbx(append(args, "-c", script)...)
				assert.NotZero(t, got.code, script)
				w.mustOutside(script)
			}
		})
	}
}

// TestProtectedGrants: what the user names by itself is the user's wish; a
// git directory that is granted is protected like one that lies in a grant.
func TestProtectedGrants(t *testing.T) {
	w := newWorld(t)
	w.workspace()
	w.mustOutside("git clone -q --bare . ../bare.git")
	for _, row := range []struct {
		name, script string
		flags        []string
		works        bool
	}{
		{"by its own name (PM15)", "echo x > .vscode/tasks.json && ! echo x 2>/dev/null > .envrc", []string{"--rw", ".", "--rw", ".vscode"}, true},
		{"a file by its own name (PM15)", "echo x > .envrc", []string{"--rw", ".", "--rw", ".envrc"}, true},
		{"the git directory alone", "echo x > .git/index2 && ! echo x 2>/dev/null >> .git/config", []string{"--ro", ".", "--rw", ".git"}, true},
		{"a bare repository", "cd ../bare.git && echo x > description && ! echo x 2>/dev/null >> config", []string{"--rw", "../bare.git"}, true},
		{"a deny is not reopened", "cat .envrc", []string{"--rw", ".", "--deny", ".envrc"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := w.sbx(append(append([]string{"run"}, row.flags...), "-c", row.script)...)
			if row.works {
				assert.Zero(t, got.code, got.stderr)
				return
			}
			assert.NotEqual(t, 125, got.code, got.stderr)
			assert.Empty(t, got.stdout)
		})
	}
	check := w.sbx("check", "write", "--rw", ".", ".envrc")
	assert.Equal(t, 1, check.code)
	assert.Contains(t, check.stdout, "direnv runs it")
	assert.Contains(t, check.stdout, "--rw ./.envrc would allow it")
}

// TestGrantOfProtectedNameNeedsTrust: a file that came with the repository
// must not open the repository's hooks.
func TestGrantOfProtectedNameNeedsTrust(t *testing.T) {
	w := newWorld(t)
	w.workspace()
	w.write("ws/sbx.yaml", "sandbox: {paths: {aa: {root: ., mode: rw}, hooks: {root: .git/hooks, mode: rw}}}\n")
	got := w.sbx("run", "-c", "echo x > .git/hooks/pre-commit")
	assert.Equal(t, 125, got.code)
	assert.Contains(t, got.stderr, "sbx trust")
	named := w.sbx("run", "--config", "sbx.yaml", "-c", "echo x > .git/hooks/pre-commit")
	assert.Zero(t, named.code, named.stderr)
}

// TestMadeFilesAreReported: what does not exist cannot be mounted over, so it
// is said afterwards what a command has made of it.
func TestMadeFilesAreReported(t *testing.T) {
	w := newWorld(t)
	w.workspace()
	script := `echo x > .mcp.json; mkdir .claude; echo ../evil > .git/commondir; rm -f .idea
git init -q new/deep; echo x > plain; echo 'sandbox: {root: .}' > sbx.yaml; test -e .idea/x.xml`
	got := w.sbx("run", "--rw", ".", "--quiet", "-c", script)
	assert.Zero(t, got.code, got.stderr)
	var said []string
	for line := range strings.Lines(got.stderr) {
		if strings.Contains(line, "during the run: ") {
			said = append(said, strings.TrimSpace(line))
		}
	}
	assert.Equal(t, []string{
		"sbx: warning: made during the run: ./.claude: Claude Code runs the hooks of its settings",
		"sbx: warning: made during the run: ./.git/commondir: git takes config and hooks from where it points",
		"sbx: warning: made during the run: ./.mcp.json: coding agents start the servers that it names",
		"sbx: warning: made during the run: ./new/deep/.git: git takes config and hooks from it",
		"sbx: warning: made during the run: ./sbx.yaml: it decides about later runs",
	}, said)

	again := w.sbx("run", "--config", "/dev/null", "--rw", ".", "--", "true")
	assert.NotContains(t, again.stderr, "during the run", "reported once; now they are protected")
}

func TestMadeFilesInJSON(t *testing.T) {
	w := newWorld(t)
	got := w.sbx("run", "--json", "--rw", ".", "-c", "echo x > .envrc")
	var result struct {
		Notes      []string
		Guarantees []struct {
			Name, Detail string
			Held         bool
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &result))
	assert.Contains(t, result.Notes, "made during the run: ./.envrc: direnv runs it in a shell that enters the directory")
	for _, g := range result.Guarantees {
		if g.Name == "protected-files" {
			assert.False(t, g.Held)
			assert.Contains(t, g.Detail, ".agents")
			assert.Contains(t, g.Detail, "protect: strict")
		}
	}
	demanded := w.sbx("run", "--rw", ".", "--require", "protected-files", "--", "true")
	assert.Equal(t, 125, demanded.code)
	assert.Contains(t, demanded.stderr, "protected-files")
}

// TestLinkedNamesFailNoRun: links of every kind in the place of protected
// names, also such that come with a hostile repository.
func TestLinkedNamesFailNoRun(t *testing.T) {
	for name, script := range map[string]string{
		"to itself":       "ln -s .vscode .vscode",
		"to nothing":      "ln -s nowhere .envrc",
		"to the root":     "ln -s . .claude; ln -s .. .husky",
		"out":             "ln -s /etc .vscode; ln -s /etc/passwd .envrc",
		"git directory":   "mkdir real; git init -q real; mv real/.git gitdir; ln -s gitdir .git",
		"hooks":           "git init -q .; rm -r .git/hooks; mkdir hooks; ln -s ../hooks .git/hooks",
		"on the way":      "mkdir dot; ln -s dot .config; mkdir dot/fish",
		"a broken file":   "echo 'gitdir: /nowhere' > .git; mkdir sub; echo garbage > sub/.git",
		"a FIFO":          "mkfifo .envrc .git",
		"odd directories": "mkdir .git .envrc .git/config .git/commondir",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, flags := range [][]string{nil, {"--protect", "strict"}} {
				w := newWorld(t)
				w.mustOutside(script)
				if flags != nil && name == "to the root" {
					refused := w.sbx("run", "--rw", ".", "--protect", "strict", "--", "true")
					assert.Equal(t, 125, refused.code)
					assert.Contains(t, refused.stderr, w.cwd+"/.claude", "it stands for all of the workspace, so it cannot be kept")
					assert.Contains(t, refused.stderr, "hint: ")
					continue
				}
				got := w.sbx(append(append([]string{"run", "--rw", "."}, flags...), "-c", "echo x > file")...)
				assert.Zero(t, got.code, got.stderr)
				assert.NotContains(t, got.stderr, "panic")
				assert.FileExists(t, w.cwd+"/file")
			}
		})
	}
}

// TestProtectedFilesOnBuiltin: without namespaces nothing can be mounted over
// a file, and sbx says so.
func TestProtectedFilesOnBuiltin(t *testing.T) {
	w := newWorld(t)
	w.workspace()
	got := w.sbx("run", "--backend", "builtin", "--rw", ".", "-c", "echo x >> .envrc; echo x > .mcp.json")
	assert.Zero(t, got.code, got.stderr)
	assert.Contains(t, got.stderr, "changed during the run: ./.envrc")
	assert.Contains(t, got.stderr, "made during the run: ./.mcp.json")

	strict := w.sbx("run", "--backend", "builtin", "--rw", ".", "--protect", "strict", "--", "true")
	assert.Equal(t, 125, strict.code)
	assert.Contains(t, strict.stderr, "protected-files")
	readonly := w.sbx("run", "--backend", "builtin", "--ro", ".", "--protect", "strict", "--", "true")
	assert.Zero(t, readonly.code, "nothing is writable, so nothing is lost: %s", readonly.stderr)
}
