package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repository returns the lines of a git directory for tree.
func repository(at string) []string {
	var lines []string
	for _, name := range []string{"HEAD", "config", "index", "hooks/pre-commit", "objects/", "refs/heads/"} {
		lines = append(lines, at+"/"+name)
	}
	return lines
}

func TestProtectedNamesAreReviewed(t *testing.T) {
	t.Parallel()
	for _, names := range [][]protectedName{projectNames, startupNames, homeNames} {
		sortedNames := slices.SortedFunc(slices.Values(names), func(a, b protectedName) int {
			return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
		})
		assert.Equal(t, sortedNames, names, "in order, so that a double shows")
		for _, n := range names {
			assert.True(t, IsHostPath("/"+n.name), n.name)
			assert.Greater(t, len(strings.Fields(n.tool)), 2, "%s says who acts on it", n.name)
		}
	}
}

// TestProtect lays a tree out and asks which places below a writable grant of
// all of it stay writable.
func TestProtect(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		tree   []string
		closed []string // read-only
		open   []string // writable
	}{
		{"names at the top", []string{".envrc", ".vscode/tasks.json", "src/.vscode/tasks.json", ".config/fish/x", ".bashrc"},
			[]string{".envrc", ".vscode", ".vscode/tasks.json", ".vscode/new", ".config/fish/x", ".bashrc"},
			[]string{"src/.vscode/tasks.json", ".config/other", ".envrc2", "new"}},
		{"policies in any directory", []string{"a/b/sbx.yaml", "a/b/c/sbx.yaml", "a/program.yaml", "a/d/sbx.yaml/f"},
			[]string{"a/b/sbx.yaml", "a/b/c/sbx.yaml"}, []string{"a/b", "a/b/c/new", "a/sbx.yaml", "a/program.yaml", "a/d/sbx.yaml/f"}},
		{"a repository", repository(".git"),
			[]string{".git/config", ".git/hooks", ".git/hooks/pre-push"},
			[]string{".git", ".git/index", ".git/index.lock", ".git/HEAD", ".git/objects/x", ".git/refs/heads/x", ".git/config.lock", ".git/info/attributes"}},
		{"a repository inside", append(repository("vendor/a/.git"), "vendor/a/.envrc", "vendor/a/.mcp.json"),
			[]string{"vendor/a/.git/config", "vendor/a/.git/hooks/new", "vendor/a/.envrc", "vendor/a/.mcp.json"},
			[]string{"vendor/a/.git/index", "vendor/new", "vendor/a/new"}},
		{"a bare repository", repository("store/x.git"),
			[]string{"store/x.git/config", "store/x.git/hooks/a"}, []string{"store/x.git/HEAD", "store/x.git/objects/aa"}},
		{"git directories of submodules", append(append(repository(".git"), repository(".git/modules/a/b")...), "a/b/.git = gitdir: ../../.git/modules/a/b"),
			[]string{".git/modules/a/b/config", ".git/modules/a/b/hooks/x", "a/b/.git"}, []string{".git/modules/a/b/index", "a/b/file"}},
		{"a linked worktree", append(repository("main/.git"), "main/.git/worktrees/w/HEAD", "main/.git/worktrees/w/commondir = ../..", "main/.git/worktrees/w/gitdir = $T/w/.git",
			"main/.git/worktrees/w/config.worktree", "w/.git = gitdir: ../main/.git/worktrees/w", "w/.envrc"),
			[]string{"w/.git", "w/.envrc", "main/.git/worktrees/w/commondir", "main/.git/worktrees/w/gitdir", "main/.git/worktrees/w/config.worktree", "main/.git/config", "main/.git/hooks/x"},
			[]string{"main/.git/worktrees/w/HEAD", "main/.git/worktrees/w/index", "main/.git/refs/heads/x", "w/f"}},
		{"a git directory elsewhere, by file and by link", append(repository("elsewhere/g"), "a/.git = gitdir: ../elsewhere/g\n", "b/.git -> ../elsewhere/g"),
			[]string{"a/.git", "elsewhere/g/config", "elsewhere/g/hooks/x"}, []string{"b/.git", "elsewhere/g/HEAD"}},
		{"a name that is a link", []string{".envrc -> env/rc", "env/rc", ".vscode -> conf/code", "conf/code/tasks.json"},
			[]string{"env/rc", "conf/code/tasks.json"}, []string{"env/new", "conf/new", ".envrc"}},
		{"links that would close everything or lead nowhere", []string{".vscode -> .", ".idea -> ..", ".claude -> .claude", ".envrc -> gone", "f"},
			nil, []string{"f", "new", "gone"}},
		{"a link in a git directory", []string{".git/HEAD", ".git/objects/", ".git/refs/", ".git/config", ".git/hooks -> ../tools/hooks", "tools/hooks/pre-commit"},
			[]string{"tools/hooks/pre-commit", ".git/config"}, []string{"tools/x"}},
		{"odd files", []string{".git/", "HEAD/", "objects", ".mcp.json/", "sub/.git = no such thing", "sub/.envrc"},
			[]string{".mcp.json/x", "sub/.git", "sub/.envrc"}, []string{".git/x", "HEAD/x"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, tc.tree...)
			s, err := rootForm(t, root, ReadAndWrite).Expand()
			require.NoError(t, err)
			e := s.Effective()
			for _, p := range tc.closed {
				assert.False(t, e.CanWrite(root+"/"+p), "%s must be closed", p)
				assert.True(t, e.CanRead(root+"/"+p), "%s must be readable", p)
			}
			for _, p := range tc.open {
				assert.True(t, e.CanWrite(root+"/"+p), "%s must be writable", p)
			}
			assert.Empty(t, e.Made(), "nothing was made")
			again, err := s.Expand()
			require.NoError(t, err)
			assert.Equal(t, s.Effective().Area, again.Effective().Area, "a second look changes nothing")
		})
	}
}

func TestProtectGrantedRoots(t *testing.T) {
	t.Parallel()
	lines := append(repository("main/.git"), "main/.vscode/x", "main/.claude/inner/f", "main/.envrc", "main/f", "bare/x")
	root := tree(t, append(lines, repository("bare")...)...)
	for _, tc := range []struct {
		name         string
		mounts       []string
		closed, open []string
	}{
		{"the git directory by itself", []string{"main/.git rw"}, []string{"main/.git/config", "main/.git/hooks/x", "main/f"}, []string{"main/.git/index"}},
		{"a bare repository by itself", []string{"bare rw"}, []string{"bare/config", "bare/hooks/x"}, []string{"bare/HEAD", "bare/.envrc"}},
		{"a protected name by itself", []string{"main rw", "main/.vscode rw"}, []string{"main/.envrc"}, []string{"main/.vscode/x", "main/f"}},
		{"a file in a git directory by itself", []string{"main rw", "main/.git/config rw"}, []string{"main/.git/hooks/x"}, []string{"main/.git/config"}},
		{"a grant inside a protected name", []string{"main rw", "main/.claude/inner rw"}, []string{"main/.claude/new"}, []string{"main/.claude/inner/f"}},
		{"read-only roots", []string{"main ro"}, []string{"main/f", "main/.envrc"}, nil},
		{"read-only around writable", []string{"main ro", "main/.git rw"}, []string{"main/f", "main/.git/config"}, []string{"main/.git/index"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, err := pathForm(t, root, tc.mounts...).Expand()
			require.NoError(t, err)
			e := s.Effective()
			for _, p := range tc.closed {
				assert.False(t, e.CanWrite(root+"/"+p), "%s must be closed", p)
			}
			for _, p := range tc.open {
				assert.True(t, e.CanWrite(root+"/"+p), "%s must be writable", p)
			}
		})
	}
}

// TestProtectReopensNothing: what a deny hides stays hidden, and what is in it
// is not looked at.
func TestProtectReopensNothing(t *testing.T) {
	t.Parallel()
	root := tree(t, append(repository("secret/.git"), ".envrc", "secret/.envrc")...)
	s, err := rootForm(t, root, ReadAndWrite, mustDeny(t, ".envrc", root, ""), mustDeny(t, "./secret", root, "")).Expand()
	require.NoError(t, err)
	e := s.Effective()
	for _, p := range []string{".envrc", "secret/.git/config", "secret/.envrc"} {
		assert.Equal(t, Hidden, e.Area.At(root+"/"+p).Kind, p)
	}
}

func TestProtectedDecisionNamesTool(t *testing.T) {
	t.Parallel()
	root := tree(t, ".envrc")
	s, err := mustNew(t, Spec{Form: RootForm, Mounts: []Mount{mountAt(t, "/", root, ReadAndWrite)}, Places: Places{Cwd: root}}).Expand()
	require.NoError(t, err)
	r, d, err := s.Effective().Look(Write, root+"/.envrc")
	require.NoError(t, err)
	assert.False(t, d.Allowed)
	assert.Contains(t, d.Reason, "direnv runs it")
	assert.Equal(t, "--rw ./.envrc", s.Effective().AllowWith(Write, r, d), "a grant by its own name lifts it")
}

func paths(triggers []Trigger, root string) []string {
	var names []string
	for _, t := range triggers {
		names = append(names, strings.TrimPrefix(t.Path, root+"/"))
	}
	return names
}

func TestExposure(t *testing.T) {
	t.Parallel()
	root := tree(t, append(repository("vendor/.git"), ".idea -> conf", "conf/x", ".envrc -> gone", ".vscode/")...)
	s, err := mustNew(t, Spec{Form: RootForm, Mounts: []Mount{mountAt(t, "/", root, ReadAndWrite)},
		Denies: []Deny{mustDeny(t, "./later/secret", root, "")}, Guarded: []string{root + "/sbx.yaml"}}).Expand()
	require.NoError(t, err)
	x := s.Effective().Exposure()
	assert.Equal(t, []string{".envrc", ".idea"}, paths(x.Loose, root))
	absent := paths(x.Absent, root)
	for _, p := range []string{".bashrc", ".git", ".husky", "gone", "later/secret", "sbx.yaml", "vendor/.git/commondir", "vendor/.git/config.worktree", "vendor/.husky"} {
		assert.Contains(t, absent, p)
	}
	for _, p := range []string{".vscode", ".idea", ".envrc", "vendor/.git/config", "vendor/.bashrc", ".gitconfig"} {
		assert.NotContains(t, absent, p)
	}
	assert.Empty(t, s.Effective().Placeholders())

	readonly := mustDerive(t, s, Request{Inherit: true, Readonly: new(true)}).Effective()
	assert.False(t, readonly.Exposure().Any(), "what cannot be written is not exposed")
}

func TestMade(t *testing.T) {
	t.Parallel()
	root := tree(t, append(repository(".git"), ".idea -> conf", "conf/x", ".mcp.json = {}", "ro/f")...)
	s, err := mustNew(t, Spec{Form: RootForm, Mounts: []Mount{mountAt(t, "/", root, ReadAndWrite)},
		Denies: []Deny{mustDeny(t, "./secret", root, "")}, Guarded: []string{root + "/sbx.yaml"}}).Expand()
	require.NoError(t, err)
	e := s.Effective()
	require.Empty(t, e.Made())

	grow(t, root, append(repository("new/deep/.git"), ".envrc = evil", ".vscode/", ".claude/settings.json", "secret", "sbx.yaml", ".git/commondir = ../evil", "src/.envrc", "plain")...)
	require.NoError(t, replaceLink(root+"/.idea", "elsewhere"))
	require.NoError(t, os.WriteFile(root+"/.mcp.json", []byte("{...}"), 0o644))
	made := e.Made()
	assert.Equal(t, []string{".claude", ".envrc", ".git/commondir", ".idea", ".mcp.json", ".vscode", "new/deep/.git", "sbx.yaml", "secret"}, paths(made, root))
	for _, m := range made {
		name := strings.TrimPrefix(m.Path, root+"/")
		assert.Equal(t, name == ".idea" || name == ".mcp.json", m.Changed, name)
		assert.NotEmpty(t, m.Tool)
	}
}

func TestProtectStrict(t *testing.T) {
	t.Parallel()
	root := tree(t, append(repository(".git"), ".envrc")...)
	home := tree(t, "f")
	s, err := mustNew(t, Spec{
		Mounts: []Mount{mountAt(t, "pp", root, ReadAndWrite), mountAt(t, "home", home, ReadAndWrite)},
		Denies: []Deny{mustDeny(t, "./later/secret", root, "")}, Protect: ProtectStrict, Places: Places{Home: home},
	}).Expand()
	require.NoError(t, err)
	e := s.Effective()
	assert.Empty(t, e.Exposure().Absent)
	for _, p := range []string{root + "/.vscode/tasks.json", root + "/.bashrc", root + "/.git/commondir", home + "/.config/autostart/x", root + "/later/secret"} {
		assert.False(t, e.CanWrite(p), p)
	}
	assert.True(t, e.CanWrite(root+"/src/x"))
	assert.True(t, e.CanWrite(home+"/.config/x"))

	want := map[string]Placeholder{}
	for _, p := range e.Placeholders() {
		want[p.Path] = p
	}
	assert.Equal(t, TypeDir, want[root+"/.vscode"].Type)
	assert.Equal(t, TypeDir, want[root+"/later/secret"].Type)
	assert.Equal(t, ".\n", want[root+"/.git/commondir"].Content)
	assert.Equal(t, Placeholder{Path: root + "/.git/config.worktree", Type: TypeFile}, want[root+"/.git/config.worktree"])
	assert.NotContains(t, want, root+"/.envrc", "it exists")
	assert.NotContains(t, want, root+"/.gitconfig", "that counts in the home alone")
	assert.Contains(t, want, home+"/.gitconfig")

	narrowed := mustDerive(t, s, Request{AllowWrite: []string{"home"}}).Effective()
	for _, p := range narrowed.Placeholders() {
		assert.True(t, Contains(home, p.Path), "%s: nothing to block where nothing is writable", p.Path)
	}
}

func TestNamesProtected(t *testing.T) {
	t.Parallel()
	for rel, want := range map[string]bool{
		".git/hooks": true, "a/.git": true, ".vscode": true, "x/.vscode/y": true, ".config/fish": true, ".config/fish/a": true,
		".": false, "src": false, ".config": false, ".config/other": false, "my.git": false, ".vscodex": false, "fish": false,
	} {
		assert.Equal(t, want, NamesProtected(rel), rel)
	}
}

// TestSurveyUnreadable: a directory that cannot be searched may hold anything.
func TestSurveyUnreadable(t *testing.T) {
	t.Parallel()
	root := tree(t, "shut/.git/config", "f")
	require.NoError(t, os.Chmod(root+"/shut", 0))
	defer os.Chmod(root+"/shut", 0o755) //nolint:errcheck // only to clean up
	asNobody(t, root, func() {
		s, err := rootForm(t, root, ReadAndWrite).Expand()
		require.NoError(t, err)
		assert.Equal(t, []string{root + "/shut"}, s.Effective().Exposure().Unseen)
	})
}

func BenchmarkSurvey(b *testing.B) {
	root := tree(b)
	for d := range 2000 {
		dir := filepath.Join(root, fmt.Sprintf("a%02d/b%02d/c%d", d%20, d/20, d))
		require.NoError(b, os.MkdirAll(dir, 0o755))
		for f := range 10 {
			require.NoError(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.go", f)), nil, 0o644))
		}
	}
	e := rootForm(b, root, ReadAndWrite).Effective()
	for b.Loop() {
		_ = e.protect(nil)
	}
}
