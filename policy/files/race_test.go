//go:build unix

package files

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/policy"
)

// swap puts a link to target at p, in one step. What was there is at p+".old".
func swap(t testing.TB, p, target string) {
	t.Helper()
	require.NoError(t, os.Rename(p, p+".old"))
	require.NoError(t, os.Symlink(target, p))
}

// A link put in place between the decision and the opening is not followed,
// wherever on the path it is. Opened by name, it would be: that is the control.
func TestLinksPutOnTheWayAreNotFollowed(t *testing.T) {
	for _, tc := range []struct{ name, swapped, target string }{
		{"the file", "p/a/b/f", "../../../outside/a/b/f"},
		{"its directory", "p/a/b", "../../outside/a/b"},
		{"a directory above", "p/a", "../outside/a"},
		{"the mount itself", "p", "outside"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := tree(t, "p/a/b/f = inside", "outside/a/b/f = outside")
			f := tools(t, nil, mount(t, "/", root+"/p", "rw"))
			r, err := f.sandbox.Locate(policy.Read, "/a/b/f")
			require.NoError(t, err)

			swap(t, root+"/"+tc.swapped, tc.target)
			parent, name := split(r.Path)
			d, err := openDir(parent, root+"/p")
			if err == nil {
				_, err = d.open(name, unix.O_RDONLY, 0)
				d.close()
			}
			assert.True(t, changedOnTheWay(err), "%v", err)
			assert.Equal(t, "outside", content(t, r.Path), "the control")

			_, err = f.Read("/a/b/f", 100)
			assert.Error(t, err, "the operation as a whole sees the link as one that leaves")
			assert.Error(t, f.Write("/a/b/f", "evil"))
			assert.Equal(t, "outside", content(t, root+"/outside/a/b/f"))
		})
	}
}

// A directory that was opened stays itself when its name is taken over.
func TestOpenedDirectoriesArePinned(t *testing.T) {
	root := tree(t, "p/a/f = inside", "outside/f = outside")
	f := tools(t, nil, mount(t, "/", root+"/p", "rw"))
	at, err := f.locate(policy.Read, "/a/f")
	require.NoError(t, err)
	defer at.dir.close()
	swap(t, root+"/p/a", "../outside")

	file, st, err := at.openToRead()
	require.NoError(t, err)
	defer file.Close()
	text, err := at.readText(file, st, 100)
	require.NoError(t, err)
	assert.Equal(t, "inside", text.Content)

	require.NoError(t, at.write(f, "new"))
	assert.Equal(t, "outside", content(t, root+"/outside/f"))
	assert.Equal(t, "new", content(t, root+"/p/a.old/f"))
}

// What replaces the file between the look and the opening is looked at again.
func TestTypesAreCheckedOnTheDescriptor(t *testing.T) {
	root := tree(t, "p/f = x")
	f := tools(t, nil, mount(t, "/", root+"/p", "rw"))
	at, err := f.locate(policy.Read, "/f")
	require.NoError(t, err)
	defer at.dir.close()
	require.NoError(t, os.Remove(root+"/p/f"))
	require.NoError(t, unix.Mkfifo(root+"/p/f", 0o666))
	file, err := at.dir.open("f", unix.O_RDONLY, 0) // does not block
	require.NoError(t, err)
	defer file.Close()
	st, err := fstat(file)
	require.NoError(t, err)
	assert.ErrorAs(t, at.checkType(policy.Read, st), new(*WrongTypeError))
	_, err = at.openToWrite(unix.O_WRONLY)
	assert.Error(t, err)
}

func TestFilesThatChangeWhileTheyAreRead(t *testing.T) {
	for name, change := range map[string]func(p string) error{
		"longer":    func(p string) error { return appendTo(p, "more") },
		"shorter":   func(p string) error { return os.Truncate(p, 1) },
		"same size": func(p string) error { return os.WriteFile(p, []byte("tneduts"), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, "p/f = student")
			require.NoError(t, os.Chtimes(root+"/p/f", olden, olden))
			f := tools(t, nil, mount(t, "/", root+"/p", "rw"))
			file, at, before, err := f.openToRead("/f")
			require.NoError(t, err)
			defer file.Close()
			require.NoError(t, change(root+"/p/f"))
			_, err = at.readText(file, before, 100)
			assert.EqualError(t, err, "Cannot read '/f': it changed at the same time.\nTry again")
		})
	}
}

func appendTo(p, text string) error {
	f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

// While another process swaps a directory for a link out and back, reads give
// what is inside or an error, and writes change nothing outside.
func TestConcurrentSwaps(t *testing.T) {
	root := tree(t, "p/a/f = inside", "outside/f = outside", "spare/")
	f := tools(t, nil, mount(t, "/", root+"/p", "rw"))
	require.NoError(t, os.Symlink("../outside", root+"/spare/link"))

	stop, stopped := make(chan struct{}), sync.WaitGroup{}
	stopped.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(root+"/p/a", root+"/spare/a")
			_ = os.Rename(root+"/spare/link", root+"/p/a")
			_ = os.Rename(root+"/p/a", root+"/spare/link")
			_ = os.Rename(root+"/spare/a", root+"/p/a")
		}
	})
	for range 500 {
		if text, err := f.Read("/a/f", 100); err == nil {
			assert.Equal(t, "inside", text.Content)
		}
		_ = f.Write("/a/f", "inside")
		if list, err := f.List(".", DefaultPattern); err == nil {
			assert.NotContains(t, strings.Join(list, " "), "outside")
		}
	}
	close(stop)
	stopped.Wait()
	assert.Equal(t, "outside", content(t, root+"/outside/f"))
	assert.Equal(t, []string{"f"}, names(t, root+"/outside"))
}
