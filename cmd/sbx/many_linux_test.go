package main_test

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

// numbered makes n paths of a format, relative to the working directory.
func numbered(n int, format string) []string {
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf(format, i)
	}
	return paths
}

// flags repeats a flag for each value.
func flags(name string, values []string) (args []string) {
	for _, v := range values {
		args = append(args, name, v)
	}
	return args
}

// contentsOf lists what lies below a directory, with the contents of files.
func contentsOf(t *testing.T, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all = append(all, p)
			return err
		}
		content, err := os.ReadFile(p)
		all = append(all, p+": "+string(content))
		return err
	}))
	return all
}

// TestManyGrants: of thousands of granted directories, some in each other and
// some in private places, each is what its own flag says, and nothing beside
// them shows.
func TestManyGrants(t *testing.T) {
	for _, n := range []int{1000, 2000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := newWorld(t)
			readOnly, writable := numbered(n/2, "ro%04d"), numbered(n/2, "rw%04d")
			inner := numbered(n/20, "rw%04d/a/inner")
			innermost := numbered(n/40, "rw%04d/a/inner/rw")
			for _, list := range [][]string{readOnly, writable, inner, innermost, numbered(20, "beside%d")} {
				for _, p := range list {
					w.write("ws/"+p+"/file", "content")
				}
			}
			w.write("home/kept/file", "content")
			w.write("home/other/file", "content")
			args := slices.Concat([]string{"run", "--ro", w.home + "/kept"}, flags("--ro", readOnly), flags("--rw", writable),
				flags("--ro", inner), flags("--rw", innermost))
			got := w.sbx(append(args, "-c", `cd "`+w.cwd+`"
				for d in *; do
					[ -s $d/file ] || echo "unreadable $d"
					(: > $d/new) 2>/dev/null && echo "${d%????}"
				done | sort | uniq -c
				for d in rw*/a/inner; do (: > $d/new) 2>/dev/null && echo "writable $d"; done
				for d in rw*/a/inner/rw; do (: > $d/new) || echo "not writable $d"; done
				mv rw0000/a rw0000/b 2>/dev/null && echo moved
				mv rw0000/a/inner rw0000/a/b 2>/dev/null && echo moved
				rm -rf rw0000/a/inner 2>/dev/null && echo removed
				rm -rf rw0003 2>/dev/null && echo removed
				: > rw0001/a/new && mv rw0001/file rw0001/renamed && echo works
				ls | grep -c . ; ls ~ ; ls -d beside0 2>/dev/null; : > ~/own && echo own`)...)
			require.Zero(t, got.code, got.stderr)
			assert.Equal(t, fmt.Sprintf("%d rw\nworks\n%d\nkept\nown\n", n/2, n), strings.TrimLeft(got.stdout, " "), got.stderr)
			assert.NoFileExists(t, w.cwd+"/rw0000/a/inner/new")
			assert.FileExists(t, w.cwd+"/rw0000/a/inner/file")
			assert.FileExists(t, w.cwd+"/rw0002/a/inner/rw/new")
			assert.FileExists(t, w.cwd+"/rw0001/renamed")
			assert.NoFileExists(t, w.home+"/own")
		})
	}
}

// TestManyDenied: of thousands of denied files and directories none can be
// read, written, removed or moved aside, and the host stays as it is.
func TestManyDenied(t *testing.T) {
	for _, n := range []int{1000, 2000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := newWorld(t)
			files, dirs := make([]string, n), make([]string, n)
			for i := range n {
				files[i], dirs[i] = fmt.Sprintf("sub%d/f%04d", i%50, i), fmt.Sprintf("sub%d/d%04d", i%50, i)
				w.write("ws/"+files[i], "secret")
				w.write("ws/"+dirs[i]+"/file", "secret")
			}
			w.write("ws/sub0/open", "content")
			before := contentsOf(t, w.cwd)
			const script = `
				for f in sub*/f*; do
					[ -s $f ] && echo "readable $f"
					(echo x > $f) 2>/dev/null && echo "writable $f"
				done
				for d in sub*/d*; do
					[ -e $d/file ] && echo "readable $d"
					(: > $d/new) 2>/dev/null && echo "writable $d"
				done
				for p in sub0 sub49 sub7/f0007 sub7/d0007; do
					mv $p $p.moved 2>/dev/null && echo "moved $p"
					rmdir $p 2>/dev/null && echo "removed $p"
					rm -f $p 2>/dev/null && echo "removed $p"
				done
				cat sub0/open; grep -r secret .`
			control := w.outside("/bin/sh", "-c", `[ -s sub0/f0000 ] && [ -e sub0/d0000/file ] && : > sub0/d0000/new && rm sub0/d0000/new && mv sub7 sub7.moved && mv sub7.moved sub7`)
			require.Zero(t, control.code, "the control arm must succeed")
			got := w.sbx(append(slices.Concat([]string{"run", "--rw", "."}, flags("--deny", files), flags("--deny", dirs)), "-c", script)...)
			assert.Equal(t, "content", got.stdout, got.stderr)
			assert.Equal(t, before, contentsOf(t, w.cwd))
		})
	}
}

// TestManyInTheRoot: masks inside a grant of everything.
func TestManyInTheRoot(t *testing.T) {
	w := newWorld(t)
	top := filepath.Dir(w.dir) // hidden by the private /tmp, so granted once more
	files := numbered(100, "sub/f%04d")
	for _, f := range files {
		w.write("ws/"+f, "secret")
	}
	w.write("ws/open", "content")
	args := slices.Concat([]string{"run", "--ro", "/", "--rw", w.cwd}, flags("--deny", files))
	got := w.sbx(append(args, "-c", `cat sub/f0000 sub/f0099 open; ls /proc/self/fd | grep -c .; ls -d /usr; ls `+top+` | grep -c .; mv sub gone`)...)
	assert.NotZero(t, got.code, "the parent of masks must stay")
	assert.Equal(t, "content4\n/usr\n1\n", got.stdout, got.stderr)
}

// TestManyMountsKeepTheWalls: the process inside is the same whoever has made
// its mounts: no capability, no descriptor, no variable more, nor a new user
// namespace.
func TestManyMountsKeepTheWalls(t *testing.T) {
	w := newWorld(t)
	files := numbered(200, "f%04d")
	for _, f := range files {
		w.write("ws/"+f, "secret")
	}
	const script = `grep -E '^(Cap|NoNewPrivs|Seccomp|Groups|Uid|Sig)' /proc/self/status; ls /proc/self/fd; tr '\0' '\n' < /proc/self/environ | grep -v SBX_OUTER
		unshare --user true 2>&1; ls -A / /dev /proc/sys | sort; id -u; mount -t tmpfs none /tmp 2>&1; umount "$PWD/f0000" 2>/dev/null && echo gone; cut -d' ' -f5- /proc/1/cgroup; exit 7`
	few := w.sbx("run", "--rw", ".", "-c", script)
	many := w.sbx(append(append([]string{"run", "--rw", "."}, flags("--deny", files)...), "-c", script)...)
	assert.Equal(t, few.stdout, many.stdout)
	assert.Equal(t, 7, many.code, many.stderr)
	assert.Contains(t, many.stdout, "CapEff:\t0000000000000000")
}
