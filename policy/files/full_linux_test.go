package files

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A full disk: a file system of 64 KiB, in a mount namespace of its own.
func TestWriteToAFullDisk(t *testing.T) {
	dir := os.Getenv(asChild)
	if dir == "" {
		inChild(t, tree(t), func(cmd *exec.Cmd) {
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
			if os.Geteuid() != 0 {
				cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
				cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
				cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
			}
		})
		return
	}
	require.NoError(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"))
	for _, d := range []string{"/p", "/q"} {
		require.NoError(t, os.Mkdir(dir+d, 0o755))
	}
	require.NoError(t, os.WriteFile(dir+"/p/old", []byte("old content"), 0o644))
	require.NoError(t, os.WriteFile(dir+"/q/file", []byte("old content"), 0o644))
	assertWriteFails(t, dir, syscall.ENOSPC)
}
