//go:build unix

package files

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
)

func TestWrite(t *testing.T) {
	root := tree(t, "docs/a.md = old content", "docs/sub/", "docs/in.md -> sub/new.md", "docs/to-pics.md -> ../pics/p.md", "pics/p.md = picture")
	f := tools(t, nil, mount(t, "docs", root+"/docs", "rw"), mount(t, "pics", root+"/pics", "rw"))
	for _, tc := range []struct{ path, host, content string }{
		{"docs/a.md", "docs/a.md", "new"},
		{"docs/a.md", "docs/a.md", ""},
		{"docs/b.md", "docs/b.md", strings.Repeat("x", 100_000)},
		{"docs:c.md", "docs/c.md", "not\xffUTF-8\x00"},
		{"docs/in.md", "docs/sub/new.md", "through a dangling link"},
		{"docs/to-pics.md", "pics/p.md", "through a link to another mount"},
		{"docs/deep/er/x.md", "docs/deep/er/x.md", "directories are made"},
		{"docs/deep/er/y.md", "docs/deep/er/y.md", "once"},
	} {
		require.NoError(t, f.Write(tc.path, tc.content), tc.path)
		assert.Equal(t, tc.content, content(t, filepath.Join(root, tc.host)))
	}
	info, err := os.Lstat(root + "/docs/to-pics.md")
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink, "the link is still one")
	for _, dir := range []string{"docs", "docs/sub", "docs/deep/er", "pics"} {
		for _, name := range names(t, filepath.Join(root, dir)) {
			assert.NotContains(t, name, ".sbx-", "nothing is left")
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	root := tree(t,
		"docs/a.md = a", "docs/dir.md/x", "docs/out.md -> ../outside/f.md", "docs/outdir -> ../outside", "outside/f.md = f", "ro/r.md = r",
		"docs/to-ro.md -> ../ro/r.md", "docs/secret.md = s", "docs/to-secret.md -> secret.md", "docs/b.exe -> a.md", "docs/l.md -> x.exe", "docs/.deny/", "docs/loop.md -> loop.md",
	)
	require.NoError(t, syscall.Mkfifo(root+"/docs/pipe.md", 0o666))
	f := tools(t, []string{"secret.md", ".deny"}, mount(t, "docs", root+"/docs", "rw", suffixes(".md")), mount(t, "ro", root+"/ro", "ro"))
	before := names(t, root+"/docs")
	for _, tc := range []struct {
		name, path, want string
		as               any
	}{
		{"outside", "outside/f.md", "Cannot write to 'outside/f.md': path is outside sandbox.\nWritable paths: ./docs", new(*policy.PathNotInSandboxError)},
		{"a link out", "docs/out.md", "Cannot write to 'docs/out.md': path is outside sandbox.\nWritable paths: ./docs", new(*policy.PathNotInSandboxError)},
		{"a directory link out", "docs/outdir/new.md", "", new(*policy.PathNotInSandboxError)},
		{"read-only", "ro/r.md", "Cannot write to 'ro/r.md': path is read-only.\nWritable paths: ./docs", new(*policy.PathNotWritableError)},
		{"a link to what is read-only", "docs/to-ro.md", "Cannot write to 'docs/to-ro.md': path is read-only.\nWritable paths: ./docs", new(*policy.PathNotWritableError)},
		{"denied", "docs/secret.md", "", new(*policy.PathNotInSandboxError)},
		{"a link to what is denied", "docs/to-secret.md", "", new(*policy.PathNotInSandboxError)},
		{"below what is denied", "docs/.deny/x.md", "", new(*policy.PathNotInSandboxError)},
		{"a new name that is denied", "docs/sub/secret.md", "", new(*policy.PathNotInSandboxError)},
		{"suffix", "docs/x.exe", "Cannot access 'docs/x.exe': suffix not allowed.\nAllowed suffixes: .md", new(*policy.SuffixNotAllowedError)},
		{"suffix in a new directory", "docs/new/x.exe", "", new(*policy.SuffixNotAllowedError)},
		{"suffix of what a link leads to", "docs/l.md", "", new(*policy.SuffixNotAllowedError)},
		{"a directory", "docs/dir.md", "Cannot write to 'docs/dir.md': it is a directory, not a file.", new(*WrongTypeError)},
		{"a pipe without a reader", "docs/pipe.md", "Cannot write to 'docs/pipe.md': it is a named pipe, not a file.", new(*WrongTypeError)},
		{"a new name with a slash", "docs/new.md/", "Cannot write to 'docs/new.md/': it is a directory, not a file.", new(*WrongTypeError)},
		{"below a file", "docs/a.md/x.md", "Cannot write to 'docs/a.md/x.md': a part of the path is a file, not a directory.", new(*policy.InvalidPathError)},
		{"a loop", "docs/loop.md", "", new(*policy.InvalidPathError)},
		{"a mount", "docs", "Cannot write to 'docs': it is a directory, not a file.", new(*WrongTypeError)},
		{"a name too long", "docs/" + strings.Repeat("n", 300) + ".md", "", new(*policy.InvalidPathError)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := f.Write(tc.path, "evil")
			require.ErrorAs(t, err, tc.as)
			if tc.want != "" {
				assert.Equal(t, tc.want, err.Error())
			}
			assert.NotContains(t, err.Error(), root)
		})
	}
	assert.Equal(t, before, names(t, root+"/docs"), "nothing is made and nothing is left")
	assert.Equal(t, []string{"a", "f", "r", "s"}, []string{content(t, root+"/docs/a.md"), content(t, root+"/outside/f.md"), content(t, root+"/ro/r.md"), content(t, root+"/docs/secret.md")})
	require.NoError(t, f.Write("docs/a.md", "good")) // the control
}

func TestWriteKeepsPermissions(t *testing.T) {
	root := tree(t, "p/")
	f := tools(t, nil, mount(t, "/", root+"/p", "rw"))
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	for _, tc := range []struct{ have, want os.FileMode }{{0o600, 0o600}, {0o755, 0o755}, {0o666, 0o666}, {0o640, 0o640}, {0o755 | os.ModeSetuid, 0o755}} {
		p := root + "/p/f"
		require.NoError(t, os.WriteFile(p, []byte("old"), 0o600))
		require.NoError(t, os.Chmod(p, tc.have))
		require.NoError(t, f.Write("/f", "new"))
		info, err := os.Stat(p)
		require.NoError(t, err)
		assert.Equal(t, tc.want, info.Mode())
		require.NoError(t, os.Remove(p))
	}
	require.NoError(t, f.Write("/new", "x"))
	info, err := os.Stat(root + "/p/new")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode(), "a new file has what the umask leaves")
}

func TestWriteKeepsTheOwner(t *testing.T) {
	root := tree(t, "p/f = old")
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 4321, 4322
		require.NoError(t, os.Chown(root+"/p/f", uid, gid))
	}
	require.NoError(t, tools(t, nil, mount(t, "/", root+"/p", "rw")).Write("f", "new"))
	info, err := os.Stat(root + "/p/f")
	require.NoError(t, err)
	st := info.Sys().(*syscall.Stat_t)
	assert.EqualValues(t, uid, st.Uid)
	assert.EqualValues(t, gid, st.Gid)
}

// Whoever has the file open keeps what was in it: the write is a replacement.
func TestWriteIsAtomicForReaders(t *testing.T) {
	root := tree(t, "p/f = old", "p/other")
	require.NoError(t, os.Remove(root+"/p/other"))
	require.NoError(t, os.Link(root+"/p/f", root+"/p/other"))
	open, err := os.Open(root + "/p/f")
	require.NoError(t, err)
	defer open.Close()
	require.NoError(t, tools(t, nil, mount(t, "/", root+"/p", "rw")).Write("f", "new content"))
	buf := make([]byte, 20)
	n, _ := open.Read(buf)
	assert.Equal(t, "old", string(buf[:n]))
	assert.Equal(t, "old", content(t, root+"/p/other"), "another name of the old file keeps it")
}

// A grant of one file leaves no room beside it: it is changed in place, and
// keeps its identity.
func TestWriteOfASingleFileMount(t *testing.T) {
	root := tree(t, "dir/f = old content", "dir/other")
	f := tools(t, nil, mount(t, "only", root+"/dir/f", "rw"))
	before, err := os.Stat(root + "/dir/f")
	require.NoError(t, err)
	for _, text := range []string{"longer than the old content was", "short", ""} {
		require.NoError(t, f.Write("only", text))
		assert.Equal(t, text, content(t, root+"/dir/f"))
	}
	after, err := os.Stat(root + "/dir/f")
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after))
	assert.Equal(t, []string{"f", "other"}, names(t, root+"/dir"))
}

// A derivation may name a place that does not exist yet. It can be made, and
// nothing around it.
func TestWriteOfAPlaceThatIsAllowedAlone(t *testing.T) {
	root := tree(t, "p/x")
	spec := policy.Spec{Form: policy.RootForm, Mounts: []policy.Mount{mount(t, "/", root+"/p", "rw")}}
	s, err := policy.New(spec)
	require.NoError(t, err)
	child, err := s.Derive(policy.Request{AllowWrite: []string{"/out/deep", "/one.txt"}})
	require.NoError(t, err)
	f := New(child)

	require.NoError(t, f.Write("/one.txt", "1"))
	assert.Equal(t, "1", content(t, root+"/p/one.txt"))
	err = f.Write("/out/deep/x", "1")
	var missing *NotFoundError
	require.ErrorAs(t, err, &missing, "/out is not writable itself")
	assert.Equal(t, []string{"one.txt", "x"}, names(t, root+"/p"))

	require.NoError(t, os.Mkdir(root+"/p/out", 0o755))
	require.NoError(t, f.Write("/out/deep/er/x", "2"))
	assert.Equal(t, "2", content(t, root+"/p/out/deep/er/x"))
}

func TestWriteToADropBox(t *testing.T) {
	root := tree(t, "p/in/a", "p/out/")
	s, err := policy.New(policy.Spec{Form: policy.RootForm, Mounts: []policy.Mount{mount(t, "/", root+"/p", "rw")}})
	require.NoError(t, err)
	child, err := s.Derive(policy.Request{AllowRead: []string{"/in"}, AllowWrite: []string{"/out"}})
	require.NoError(t, err)
	f := New(child)
	require.NoError(t, f.Write("/out/x", "1"))
	require.NoError(t, f.Write("/out/x", "2"))
	assert.Equal(t, "2", content(t, root+"/p/out/x"))
	_, err = f.Read("/out/x", 10)
	assert.Error(t, err)
	_, err = f.List("/out", DefaultPattern)
	assert.Error(t, err)
	assert.Error(t, f.Write("/in/x", "1"))
}
