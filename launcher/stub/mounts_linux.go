package stub

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/nofollow"
	"github.com/sbx-run/sbx/platform/script"
)

// Want says what a Check expects at its path.
type Want uint8

// The expectations. HostRO and HostRW name the exact inode; the others a file
// system of the sandbox's own.
const (
	HostRO    Want = iota
	HostRW         //
	EmptyDir       // read-only or without write permission, nothing below it counts
	EmptyFile      // read-only, size 0
	OwnRW          // writable file system of the sandbox
	OwnRO          // read-only file system of the sandbox
)

// Check is one mount that must stand before the command may run.
type Check struct {
	Path string
	Want Want
	Dev  uint64 // of the descriptor that the launcher opened, for HostRO and HostRW
	Ino  uint64
}

// mounts looks at every mount from inside. bubblewrap before 0.12 follows a
// symbolic link planted at a mount's destination (CVE-2026-87766): the mask
// is then somewhere else and the status is still 0. What counts is only what
// is seen here.
func (w writer) mounts(checks []Check) {
	look := seen{w, w.Stat(), w.Room(unsafe.Sizeof(unix.Statfs_t{}))}
	for _, c := range checks {
		w.stage(StageVerify, c.Path)
		nofollow.Write(w.Script, c.Path)
		look.file.Of(script.FD)
		w.Call(unix.SYS_FSTATFS, script.In(script.FD), look.system)
		look.compare(c)
		w.Call(unix.SYS_CLOSE, script.In(script.FD))
	}
}

// seen is what the stub saw of one mount.
type seen struct {
	writer
	file   script.Stat
	system script.Value // its struct statfs
}

// compare holds it against what was planned.
func (l seen) compare(c Check) {
	var sx unix.Statx_t
	l.mounted(c)
	l.readOnly(c)
	switch c.Want {
	case HostRO, HostRW:
		l.problem(c, "another file than the one that was opened for it")
		dev := uint64(unix.Major(c.Dev)) | uint64(unix.Minor(c.Dev))<<32 // two fields, side by side
		l.Test(l.file.Field(unsafe.Offsetof(sx.Dev_major)), ^uint64(0), dev, 0)
		l.Test(l.file.Field(unsafe.Offsetof(sx.Ino)), ^uint64(0), c.Ino, 0)
	case EmptyDir, EmptyFile:
		l.problem(c, "the mask is not an empty file system")
		l.Test(l.system.Plus(unsafe.Offsetof(unix.Statfs_t{}.Type)), ^uint64(0), unix.TMPFS_MAGIC, 0)
		if c.Want == EmptyFile {
			l.problem(c, "the mask is not empty")
			l.Test(l.file.Field(unsafe.Offsetof(sx.Size)), ^uint64(0), 0, 0)
		}
	}
}

// problem words what a failing test means.
func (l seen) problem(c Check, text string) {
	l.For(script.Note{Stage: string(StageVerify), Path: c.Path, Text: text})
}

// mounted asks whether something is mounted at all, where the kernel says so
// (Linux 5.8).
func (l seen) mounted(c Check) {
	var sx unix.Statx_t
	l.problem(c, "nothing is mounted here")
	unknown := l.Label()
	l.Test(l.file.Field(unsafe.Offsetof(sx.Attributes_mask)), unix.STATX_ATTR_MOUNT_ROOT, unix.STATX_ATTR_MOUNT_ROOT, 0).Else(unknown)
	l.Test(l.file.Field(unsafe.Offsetof(sx.Attributes)), unix.STATX_ATTR_MOUNT_ROOT, unix.STATX_ATTR_MOUNT_ROOT, 0)
	l.Place(unknown)
}

func (l seen) readOnly(c Check) {
	flags := l.system.Plus(unsafe.Offsetof(unix.Statfs_t{}.Flags))
	if c.Want == HostRW || c.Want == OwnRW {
		l.problem(c, "it is mounted read-only, against the plan")
		l.Test(flags, unix.ST_RDONLY, 0, 0)
		return
	}
	l.problem(c, "it is mounted writable, against the plan")
	if c.Want != EmptyDir {
		l.Test(flags, unix.ST_RDONLY, unix.ST_RDONLY, 0)
		return
	}
	fine := l.Label() // a mask that nobody may write to will do
	l.Test(flags, unix.ST_RDONLY, 0, 0).Else(fine)
	l.Test(l.file.Mode(), 0o222, 0, 0)
	l.Place(fine)
}
