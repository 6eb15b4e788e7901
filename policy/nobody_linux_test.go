package policy

import (
	"os"
	"path"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// asNobody runs f with the file permissions of an ordinary user, who owns the
// tree at root. fsuid(2) belongs to one thread, so root's tests can do this
// without another process; a thread that cannot go back ends with f.
func asNobody(t *testing.T, root string, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	require.NoError(t, os.Chown(root, nobody, nobody))
	require.NoError(t, os.Chmod(path.Dir(root), 0o755))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, syscall.Setfsgid(nobody))
	require.NoError(t, syscall.Setfsuid(nobody))
	defer func() {
		require.NoError(t, syscall.Setfsuid(0))
		require.NoError(t, syscall.Setfsgid(0))
	}()
	f()
}
