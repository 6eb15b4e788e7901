package stage_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/launcher/stage"
	"github.com/sbx-run/sbx/platform/nofollow"
)

// The builder is this test binary, entered again.

func start(t *testing.T, o stage.Orders, files ...*os.File) (*stage.Builder, error) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	b, err := stage.Start(o, files)
	if err == nil {
		t.Cleanup(b.Close)
	}
	return b, err
}

func points() []string { return []string{"/sys", "/mnt", "/srv"} }

// TestRefused: what cannot be built here is known when Start returns.
func TestRefused(t *testing.T) {
	_, err := start(t, stage.Orders{Points: points()})
	require.NoError(t, err, "the control arm must succeed")
	for name, o := range map[string]stage.Orders{
		"no place to build in": {},
		"no such place":        {Points: []string{"/no/such/place"}},
		"another root":         {Root: stage.Identity{Ino: 1}, Points: points()},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := start(t, o)
			assert.ErrorIs(t, err, stage.ErrRefused)
		})
	}
}

// TestFailure: a step that fails is told with its place, and nothing stays.
func TestFailure(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range []string{"opened", "other"} {
		require.NoError(t, os.Mkdir(dir+"/"+name, 0o755))
	}
	require.NoError(t, os.Symlink("opened", dir+"/link"))
	seen := identity(t, dir+"/opened")
	recycled := seen
	recycled.Born++
	for _, row := range []struct {
		name string
		step stage.Step
		text string
	}{
		{"the number of one that is gone", stage.Step{Op: stage.ShowRW, Path: dir + "/opened", In: "/", Dir: true, Shown: recycled}, stage.ErrChanged.Error()},
		{"another directory than the one seen", stage.Step{Op: stage.ShowRW, Path: dir + "/other", In: "/", Dir: true, Shown: seen}, stage.ErrChanged.Error()},
		{"a link to it", stage.Step{Op: stage.ShowRW, Path: dir + "/link", In: "/", Dir: true, Shown: seen}, "symbolic links"},
		{"gone", stage.Step{Op: stage.ShowRO, Path: dir + "/gone", In: "/", Dir: true}, "no such file"},
		{"no mount point outside of memory", stage.Step{Op: stage.MaskDir, Path: dir + "/opened", Dir: true}, "no such file"},
		{"an unknown step", stage.Step{Op: '?', Path: dir + "/opened", In: "/", Dir: true}, "damaged"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b, err := start(t, stage.Orders{Points: points(), Steps: []stage.Step{row.step}, Sites: []string{"/site"}})
			require.NoError(t, err)
			var f *stage.Failure
			require.ErrorAs(t, b.Attach(os.Getpid()), &f)
			assert.Equal(t, row.step.Path, f.Path)
			assert.Contains(t, f.Text, row.text)
		})
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 3)
}

// TestAttach attaches a tree in the namespaces of another process: writable,
// read-only, private and hidden places are what they should be, and the host
// has none of it.
func TestAttach(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range []string{"rw", "ro", "rw/masked", "beside"} {
		require.NoError(t, os.Mkdir(dir+"/"+name, 0o755))
	}
	require.NoError(t, os.WriteFile(dir+"/rw/masked/key", []byte("secret"), 0o644))
	require.NoError(t, os.WriteFile(dir+"/rw/file", []byte("secret"), 0o644))
	top := "/" + strings.Split(dir, "/")[1]
	b, err := start(t, stage.Orders{Points: points(), Sites: []string{top}, Steps: []stage.Step{
		{Op: stage.ShowRW, Path: dir + "/rw", In: "/", Dir: true, Shown: identity(t, dir+"/rw")},
		{Op: stage.MaskDir, Path: dir + "/rw/masked", Dir: true},
		{Op: stage.MaskFile, Path: dir + "/rw/file"},
		{Op: stage.ShowRO, Path: dir + "/ro", In: "/", Dir: true, Shown: identity(t, dir+"/ro")},
		{Op: stage.Tmpfs, Path: dir + "/own", In: "/", Dir: true, Size: 1 << 20},
		{Op: stage.Symlink, Path: dir + "/own/link", In: dir + "/own", Target: "file"},
		{Op: stage.Copy, Path: dir + "/own/copy", In: dir + "/own"},
	}}, open(t, dir+"/rw/file"))
	require.NoError(t, err)
	got := inNamespace(t, dir, b, `cd "$0"; ls; cat rw/file rw/masked/key; touch ro/new new rw/masked/new; cd own && touch file && readlink link && cat copy; touch ../rw/new`)
	assert.Equal(t, "own\nro\nrw\nfile\nsecret", got)
	for name, there := range map[string]bool{"rw/new": true, "ro/new": false, "new": false, "rw/masked/new": false, "own": false, "beside": true} {
		_, err := os.Lstat(dir + "/" + name)
		assert.Equal(t, there, err == nil, name)
	}
}

// TestAttachFar attaches mounts in a directory that the sandbox's processes
// may not search: as root it is another user's.
func TestAttachFar(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir+"/closed/ro", 0o755))
	require.NoError(t, os.WriteFile(dir+"/closed/file", []byte("secret"), 0o644))
	root, shown := identity(t, "/"), identity(t, dir+"/closed/ro")
	require.NoError(t, os.Chmod(dir+"/closed", 0o700))
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(dir+"/closed", 65534, 65534))
	}
	b, err := start(t, stage.Orders{
		Points: points(), Root: root, Sites: []string{dir + "/closed/file", dir + "/closed/ro"},
		Steps: []stage.Step{
			{Op: stage.MaskFile, Path: dir + "/closed/file", Far: true},
			{Op: stage.ShowRO, Path: dir + "/closed/ro", Dir: true, Shown: shown, Far: true},
		},
	})
	require.NoError(t, err)
	got := inNamespace(t, dir, b, `cat "$0"/closed/file 2>/dev/null && test ! -w "$0"/closed/ro && echo masked; grep -c "$0/closed/" /proc/self/mountinfo`)
	if os.Getuid() == 0 {
		assert.Equal(t, "2\n", got, "the shell sees the mounts, and nothing below")
	} else {
		assert.Equal(t, "masked\n2\n", got)
	}
}

func identity(t *testing.T, p string) stage.Identity {
	t.Helper()
	id, _, err := stage.Identify(int(open(t, p).Fd()))
	require.NoError(t, err)
	return id
}

func open(t *testing.T, p string) *os.File {
	t.Helper()
	f, err := os.Open(p)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// inNamespace starts a shell in namespaces of its own, attaches to it while it
// waits, and returns what it prints then.
func inNamespace(t *testing.T, arg string, b *stage.Builder, script string) string {
	t.Helper()
	sh := exec.Command("/bin/sh", "-c", "echo; read go; "+script, arg)
	sh.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getgid(), Size: 1}},
	}
	in, err := sh.StdinPipe()
	require.NoError(t, err)
	out, err := sh.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, sh.Start())
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, b.Attach(sh.Process.Pid))
	_, err = in.Write([]byte("go\n"))
	require.NoError(t, err)
	text, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, sh.Wait())
	return string(text)
}

// TestClose: a builder that is not needed ends at once, and its process with
// it; closing it again is nothing.
func TestClose(t *testing.T) {
	b, err := start(t, stage.Orders{Points: points(), Sites: []string{"/site"}})
	require.NoError(t, err)
	b.Close()
	b.Close()
	assert.Eventually(t, func() bool { return len(children(t)) == 0 }, 10*time.Second, time.Millisecond, "no child is left, of this test or others")
	var none *stage.Builder
	none.Close()
	assert.NoError(t, none.Attach(1), "nothing to attach")
}

func children(t *testing.T) (pids []string) {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, list := range lists {
		content, err := os.ReadFile(list)
		if err == nil { // else the thread has ended
			pids = append(pids, strings.Fields(string(content))...)
		}
	}
	return pids
}

// TestPinLink: a link that is mounted onto itself leads where it led, and is
// neither removed nor renamed nor replaced there; on the host it is a link like
// any other.
func TestPinLink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir+"/ws/real", 0o755))
	require.NoError(t, os.WriteFile(dir+"/ws/real/key", []byte("shown"), 0o644))
	require.NoError(t, os.WriteFile(dir+"/ws/other", nil, 0o644))
	require.NoError(t, os.Symlink("real", dir+"/ws/link"))
	require.NoError(t, os.Symlink("real", dir+"/ws/free"))
	shown := identity(t, dir+"/ws")
	fd, text, err := nofollow.OpenLink(dir + "/ws/link")
	require.NoError(t, err)
	defer unix.Close(fd)
	link, _, err := stage.Identify(fd)
	require.NoError(t, err)
	orders := func(target string, id stage.Identity) stage.Orders {
		return stage.Orders{Points: points(), Sites: []string{"/" + strings.Split(dir, "/")[1]}, Steps: []stage.Step{
			{Op: stage.ShowRW, Path: dir + "/ws", In: "/", Dir: true, Shown: shown},
			{Op: stage.PinLink, Path: dir + "/ws/link", Target: target, Shown: id, Far: true},
		}}
	}
	b, err := start(t, orders(text, link))
	require.NoError(t, err)
	got := inNamespace(t, dir, b, `cd "$0/ws"; cat link/key; for l in link free; do
		readlink $l; mv $l x 2>/dev/null || echo held; mv -T other $l 2>/dev/null || echo held; rm $l 2>/dev/null || echo held; echo > other; done`)
	assert.Equal(t, "shownreal\nheld\nheld\nheld\nreal\n", got, "the link that is not pinned is the control arm")
	require.NoError(t, os.Remove(dir+"/ws/link"))
	require.NoError(t, os.Symlink("real", dir+"/ws/link"))

	for name, o := range map[string]stage.Orders{"another text": orders("other", link), "another link": orders(text, shown)} {
		b, err := start(t, o)
		require.NoError(t, err, name)
		var f *stage.Failure
		require.ErrorAs(t, b.Attach(os.Getpid()), &f, name)
		assert.Equal(t, stage.ErrChanged.Error(), f.Text, name)
	}
}
