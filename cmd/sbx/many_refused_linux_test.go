package main_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// refuseArg makes this test binary a launcher for the rest of its arguments:
// on a kernel without open_tree, as far as they can tell.
const refuseArg = "without-open-tree"

func init() {
	if len(os.Args) > 2 && os.Args[1] == refuseArg {
		runtime.LockOSThread()
		err := refuseOpenTree()
		if err == nil {
			err = syscall.Exec(os.Args[2], os.Args[2:], os.Environ())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(125)
	}
}

func refuseOpenTree() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_OPEN_TREE},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// withoutOpenTree runs sbx where mounts cannot be staged.
func (w *world) withoutOpenTree(args ...string) ended {
	w.t.Helper()
	self, err := os.Executable()
	require.NoError(w.t, err)
	return w.outside(append([]string{self, refuseArg, binary}, args...)...)
}

// TestManyWithoutStaging: bubblewrap alone gives the same answers, and what is
// too much for it is an error that says so.
func TestManyWithoutStaging(t *testing.T) {
	w := newWorld(t)
	files := numbered(100, "sub/f%03d")
	for _, f := range files {
		w.write("ws/"+f, "secret")
	}
	w.write("ws/open", "content")
	args := slices.Concat([]string{"run", "--rw", "."}, flags("--deny", files),
		[]string{"-c", "cat sub/f000 sub/f099 open; ls sub | wc -l; mv sub gone 2>/dev/null || echo stays; grep -c f0 /proc/self/mountinfo"})
	staged, plain := w.sbx(args...), w.withoutOpenTree(args...)
	assert.Equal(t, "content100\nstays\n100\n", plain.stdout, plain.stderr)
	assert.Equal(t, staged, plain)

	dirs := numbered(1600, "d%04d")
	for _, d := range dirs {
		require.NoError(t, os.Mkdir(w.cwd+"/"+d, 0o755))
	}
	args = append(append([]string{"run", "--rw", "."}, flags("--deny", dirs)...), "--", "true")
	assert.Zero(t, w.sbx(args...).code)
	got := w.withoutOpenTree(args...)
	assert.Equal(t, 125, got.code)
	assert.Contains(t, got.stderr, "bubblewrap takes 9000")
	assert.Contains(t, got.stderr, "hint: grant or deny whole directories")
}
