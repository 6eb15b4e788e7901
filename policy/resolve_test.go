package policy

import (
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResolve(t *testing.T) {
	root := tree(t,
		"d/sub/f = hello", "file",
		"to-d -> d", "abs -> $T/d/sub", "up -> d/sub/../..", "chain -> to-d/sub", "deep -> chain/f",
		"dangling -> missing/x", "trail -> d/", "self -> .", "dot -> ./d/./sub",
	)
	for _, tc := range []struct {
		name, path, want string
		typ              FileType
		links            int
	}{
		{"plain file", "d/sub/f", "d/sub/f", TypeFile, 0},
		{"directory", "d", "d", TypeDir, 0},
		{"root itself", "", "", TypeDir, 0},
		{"link to a directory", "to-d/sub/f", "d/sub/f", TypeFile, 1},
		{"absolute link", "abs/f", "d/sub/f", TypeFile, 1},
		{"link through dotdot", "up/file", "file", TypeFile, 1},
		{"chain", "chain/f", "d/sub/f", TypeFile, 2},
		{"last component", "deep", "d/sub/f", TypeFile, 3},
		{"dotdot after a link is the target's parent", "abs/../sub", "d/sub", TypeDir, 1},
		{"dots and doubled slashes", "./d//./sub/", "d/sub", TypeDir, 0},
		{"link with a slash", "trail/sub", "d/sub", TypeDir, 1},
		{"link to its own directory", "self/self/self/d", "d", TypeDir, 3},
		{"missing", "d/new", "d/new", TypeMissing, 0},
		{"missing below missing", "new/a/b", "new/a/b", TypeMissing, 0},
		{"dangling link", "dangling", "missing/x", TypeMissing, 1},
		{"below a dangling link", "dangling/y", "missing/x/y", TypeMissing, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := Resolve(root + "/" + tc.path)
			require.NoError(t, err)
			assert.Equal(t, path.Join(root, tc.want), r.Path)
			assert.Equal(t, tc.typ, r.Type)
			assert.Len(t, r.Links, tc.links)
			if real, err := filepath.EvalSymlinks(root + "/" + tc.path); err == nil {
				assert.Equal(t, real, r.Path, "as the standard library sees it")
			}
		})
	}
	r, err := Resolve(root + "/d/sub/f")
	require.NoError(t, err)
	assert.EqualValues(t, len("hello"), r.Size)
	r, err = Resolve(root + "/d")
	require.NoError(t, err)
	assert.Zero(t, r.Size)
}

func TestResolveErrors(t *testing.T) {
	root := tree(t, "file", "loop -> loop", "a -> b", "b -> a", "below -> file/x", "d/")
	for _, tc := range []struct {
		name, path string
		want       error
	}{
		{"loop of one", root + "/loop", syscall.ELOOP},
		{"loop of two", root + "/a/x", syscall.ELOOP},
		{"below a file", root + "/file/x", syscall.ENOTDIR},
		{"dotdot of a file", root + "/file/..", syscall.ENOTDIR},
		{"link below a file", root + "/below", syscall.ENOTDIR},
		{"dotdot of what is missing", root + "/none/../d", fs.ErrNotExist},
		{"name too long", root + "/" + strings.Repeat("n", 300), syscall.ENAMETOOLONG},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := Resolve(tc.path)
			assert.ErrorIs(t, err, tc.want)
			assert.Equal(t, Resolution{}, r)
			_, control := os.Stat(tc.path)
			assert.ErrorIs(t, control, tc.want, "the kernel says the same")
		})
	}
	for _, p := range []string{"", "a", "./a", "/a\x00b"} {
		_, err := Resolve(p)
		assert.Error(t, err, "%q", p)
	}
}

func TestResolveLinkLimit(t *testing.T) {
	lines := []string{"l0 -> file", "file"}
	for i := 1; i <= 40; i++ {
		lines = append(lines, "l"+strconv.Itoa(i)+" -> l"+strconv.Itoa(i-1))
	}
	root := tree(t, lines...)
	r, err := Resolve(root + "/l39")
	require.NoError(t, err)
	assert.Len(t, r.Links, 40)
	// The kernel counts the links of a lookup that it has to begin again twice.
	for tries := 0; tries < 10; tries++ {
		if _, err = os.Stat(root + "/l39"); err == nil {
			break
		}
	}
	require.NoError(t, err)

	_, err = Resolve(root + "/l40")
	assert.ErrorIs(t, err, syscall.ELOOP)
	_, err = os.Stat(root + "/l40")
	assert.ErrorIs(t, err, syscall.ELOOP)
}

func TestResolveTypes(t *testing.T) {
	root := tree(t, "file")
	require.NoError(t, syscall.Mkfifo(root+"/fifo", 0o600))
	l, err := net.Listen("unix", root+"/socket")
	require.NoError(t, err)
	defer l.Close()
	for name, want := range map[string]FileType{"file": TypeFile, "fifo": TypeFile, "socket": TypeSocket, "": TypeDir} {
		r, err := Resolve(root + "/" + name)
		require.NoError(t, err)
		assert.Equal(t, want, r.Type, name)
	}
}

func TestResolveRoot(t *testing.T) {
	root := tree(t, "real/sub/", "link -> real", "real/other -> sub")
	for _, tc := range []struct {
		name, base, written, cwd string
		want                     string
		refused                  bool
	}{
		{"relative", root, "real/sub", "", "real/sub", false},
		{"dot", root + "/real", ".", "", "real", false},
		{"through a link that anybody may have placed", root, "link/sub", "", "real/sub", true},
		{"the link itself", root, "link", "", "real", true},
		{"inside", root, "real/other", "", "real/sub", true},
		{"comes out at the working directory", root, "link", root + "/real", "real", false},
		{"below the working directory", root, "link/sub", root + "/real", "real/sub", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := ResolveRoot(tc.base, tc.written, tc.cwd)
			assert.Equal(t, path.Join(root, tc.want), r.Path)
			if !tc.refused {
				require.NoError(t, err)
				return
			}
			var linked *LinkedRootError
			require.ErrorAs(t, err, &linked)
			assert.Equal(t, tc.written, linked.Written)
			assert.Contains(t, err.Error(), linked.Link)
			assert.Contains(t, linked.Hint(), r.Path)
		})
	}
	for dir, want := range map[string]bool{
		"/": true, "/home": true, "/var": true, "/usr/lib": true, "/etc": true, "/private/var": true,
		"/home/me": false, "/tmp": false, "/var/tmp": false, "/srv": false, "/usrx": false,
	} {
		assert.Equal(t, want, isSystemDir(dir), dir)
	}
}

func TestClean(t *testing.T) {
	for p, want := range map[string]string{"/a/../b": "/b", "/": "/", "/a/": "/a", "//x": "/x"} {
		got, err := Clean(p)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, p := range []string{"", "a", "/a\x00"} {
		_, err := Clean(p)
		assert.Error(t, err)
	}
}

func FuzzResolve(f *testing.F) {
	root := tree(f, "d/e/f = x", "l -> d", "up -> ..", "abs -> /", "loop -> loop", "dang -> none", "d/back -> ../l/e", "file")
	for _, seed := range []string{"", "d/e/f", "l/e/../../file", "up/x", "abs/etc", "loop/x", "dang/y", "d/back/f", "file/x", "a\x00", "d//e/./f/", "../../..", "l/../l/../d", strings.Repeat("d/../", 50)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		r, err := Resolve(root + "/" + p)
		if err != nil {
			assert.Equal(t, Resolution{}, r)
			return
		}
		require.True(t, IsHostPath(r.Path), "%q", r.Path)
		again, err := Resolve(r.Path)
		if r.Type == TypeMissing && err != nil {
			return // a name too long for the file system, below what is missing
		}
		require.NoError(t, err)
		assert.Equal(t, r.Path, again.Path, "a canonical path leads to itself")
		assert.Equal(t, r.Type, again.Type)
		assert.Empty(t, again.Links)
		if real, err := filepath.EvalSymlinks(root + "/" + p); err == nil {
			assert.Equal(t, real, r.Path)
		}
	})
}

// TestLookupAnswersAlike: what one path has shown of another changes nothing.
func TestLookupAnswersAlike(t *testing.T) {
	t.Parallel()
	root := tree(t, "a/b/f = x", "a/l -> b", "a/up -> ..", "out -> a/l", "loop -> loop", "gone -> nowhere")
	var lookup Lookup
	for _, name := range []string{"a", "a/b", "a/b/f", "a/l/f", "out/f", "a/up/a/b", "a/b/../../a/b", "a/b/f/x", "loop/x", "gone/x", "gone/..", "a/none/x", "none/..", "a/b/f"} {
		want, wantErr := Resolve(root + "/" + name)
		got, err := lookup.Resolve(root + "/" + name)
		assert.Equal(t, want, got, name)
		assert.Equal(t, wantErr, err, name)
	}
	assert.True(t, lookup.saw(root+"/a/b"))
	require.NoError(t, os.Rename(root+"/a", root+"/moved"))
	r, err := lookup.Resolve(root + "/a/b")
	require.NoError(t, err)
	assert.Equal(t, TypeDir, r.Type, "one moment for all")
	r, err = lookup.Resolve(root + "/a/b/f")
	require.NoError(t, err)
	assert.Equal(t, TypeMissing, r.Type, "a file is looked at each time")
}
