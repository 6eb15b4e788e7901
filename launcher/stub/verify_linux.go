package stub

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/nofollow"
)

// verify looks at every mount from inside. bubblewrap before 0.12 follows a
// symbolic link planted at a mount's destination (CVE-2026-87766): the mask
// is then somewhere else and the status is still 0. What counts is only what
// is seen here.
func verify(checks []Check) error {
	for _, c := range checks {
		if err := c.verify(); err != nil {
			return fail(StageVerify, c.Path, err)
		}
	}
	return nil
}

func (c Check) verify() error {
	fd, err := nofollow.Open(c.Path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var sx unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS, &sx); err != nil {
		return err
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return err
	}
	return c.compare(sx, fs)
}

// compare holds one mount against what was planned for it.
func (c Check) compare(sx unix.Statx_t, fs unix.Statfs_t) error {
	if sx.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT != 0 && sx.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 {
		return errors.New("nothing is mounted here")
	}
	readOnly := fs.Flags&unix.ST_RDONLY != 0 || c.Want == EmptyDir && sx.Mode&0o222 == 0
	if wantReadOnly := c.Want != HostRW && c.Want != OwnRW; readOnly != wantReadOnly {
		return fmt.Errorf("mounted read-only: %t, planned: %t", readOnly, wantReadOnly)
	}
	switch c.Want {
	case HostRO, HostRW:
		if dev := unix.Mkdev(sx.Dev_major, sx.Dev_minor); dev != c.Dev || sx.Ino != c.Ino {
			return errors.New("another file than the one that was opened for it")
		}
	case EmptyDir, EmptyFile:
		if fs.Type != unix.TMPFS_MAGIC {
			return errors.New("the mask is not an empty file system")
		}
		if c.Want == EmptyFile && sx.Size != 0 {
			return errors.New("the mask is not empty")
		}
	}
	return nil
}
