package landlock

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree are the files of a world; a name that ends with a slash is a directory.
// The first component says what the test ruleset grants.
var tree = []string{
	"rw/", "rw/file", "rw/sub/", "rw/sub/file", "rw/other/",
	"ro/", "ro/file", "ro/sub/",
	"drop/", "drop/file", "drop/second",
	"out/", "out/file", "out/sub/",
	"single/", "single/file", "single/beside",
}

const (
	program = "program" // an executable in ro and out
	content = "content"
)

// testRuleset grants what the names of the tree say, and nothing else but what
// programs need to run.
func testRuleset(w world) *Ruleset {
	in := func(name string) string { return filepath.Join(w.Tree, name) }
	return &Ruleset{
		Files: true,
		Grants: []Grant{
			{Path: "/usr", Access: Read},
			{Path: filepath.Dir(childExecutable), Access: Read},
			{Path: "/dev/null", Access: Read | Write},
			{Path: in("rw"), Access: Read | Write},
			{Path: in("ro"), Access: Read},
			{Path: in("drop"), Access: Write},
			{Path: in("single/file"), Access: Read | Write},
		},
		TCP:   Ports{Limit: true},
		UDP:   Ports{Limit: true},
		Scope: ScopeSignal | ScopeAbstractUnix,
	}
}

// newWorld makes the tree, the listeners and the process outside. All is owned by
// user, so that nothing but Landlock refuses.
func newWorld(t *testing.T, user *syscall.Credential) world {
	t.Helper()
	dir, err := os.MkdirTemp("", "sbx-landlock-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	w := world{Tree: dir, Pathname: filepath.Join(dir, "ro", "socket")}
	w.makeTree(t)

	target := exec.Command("sleep", "1000")
	target.SysProcAttr = &syscall.SysProcAttr{Credential: user, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, target.Start())
	t.Cleanup(func() { _ = target.Process.Kill(); _ = target.Wait() })
	w.Target = target.Process.Pid

	w.Abstract = "@" + filepath.Base(dir)
	listen(t, "unix", w.Abstract)
	listen(t, "unix", w.Pathname)
	w.TCP = port(t, listen(t, "tcp", "127.0.0.1:0").Addr().String())
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = packets.Close() })
	w.UDP = port(t, packets.LocalAddr().String())

	if user != nil {
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, int(user.Uid), int(user.Gid))
		}))
	}
	return w
}

func (w world) makeTree(t *testing.T) {
	t.Helper()
	for _, name := range tree {
		path := filepath.Join(w.Tree, name)
		if strings.HasSuffix(name, "/") {
			require.NoError(t, os.Mkdir(path, 0o755))
		} else {
			require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
	for _, dir := range []string{"ro", "out"} {
		require.NoError(t, os.WriteFile(filepath.Join(w.Tree, dir, program), []byte("#!/usr/bin/env true\n"), 0o755))
	}
	require.NoError(t, os.Symlink(filepath.Join(w.Tree, "out"), filepath.Join(w.Tree, "rw", "link")))
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func port(t *testing.T, address string) uint16 {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	require.NoError(t, err)
	n, err := strconv.ParseUint(text, 10, 16)
	require.NoError(t, err)
	return uint16(n)
}
