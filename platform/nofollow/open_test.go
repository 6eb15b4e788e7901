//go:build linux

package nofollow

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestOpen: both ways have to give the same answers: which one a process gets depends on
// the filter around it.
func TestOpen(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir+"/real/below", 0o755))
	require.NoError(t, os.WriteFile(dir+"/real/file", nil, 0o644))
	require.NoError(t, os.Symlink("real", dir+"/link"))
	require.NoError(t, os.Symlink("real/file", dir+"/to-file"))
	for _, row := range []struct {
		name, path string
		opens      bool
	}{
		{"a directory", dir + "/real/below", true},
		{"a file", dir + "/real/file", true},
		{"the root", "/", true},
		{"a link on the way", dir + "/link/file", false},
		{"a link at the end", dir + "/to-file", false},
		{"a link to a directory at the end", dir + "/link", false},
		{"a file as a directory", dir + "/real/file/x", false},
		{"nothing", dir + "/real/absent", false},
	} {
		for way, open := range map[string]func(string) (int, error){"openat2": Open, "by component": walk} {
			t.Run(row.name+" "+way, func(t *testing.T) {
				fd, err := open(row.path)
				assert.Equal(t, row.opens, err == nil, "%v", err)
				if err == nil {
					require.NoError(t, unix.Close(fd))
				}
			})
		}
	}
}

// TestOpenLink: it opens the link and nothing else.
func TestOpenLink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(dir+"/real", 0o755))
	require.NoError(t, os.Symlink("real", dir+"/link"))
	require.NoError(t, os.Symlink("nowhere", dir+"/real/dangling"))
	for _, row := range []struct {
		name, path, text string
		err              error
	}{
		{"a link to a directory", dir + "/link", "real", nil},
		{"a link to nothing", dir + "/real/dangling", "nowhere", nil},
		{"a link behind a link", dir + "/link/dangling", "", unix.ELOOP},
		{"a directory", dir + "/real", "", unix.EINVAL},
		{"nothing", dir + "/absent", "", unix.ENOENT},
	} {
		t.Run(row.name, func(t *testing.T) {
			fd, text, err := OpenLink(row.path)
			require.ErrorIs(t, err, row.err)
			assert.Equal(t, row.text, text)
			if err == nil {
				require.NoError(t, unix.Close(fd))
			}
		})
	}
}
