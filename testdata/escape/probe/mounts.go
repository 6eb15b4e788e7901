//go:build linux

package main

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

func mountVerbs() map[string]verb {
	return map[string]verb{
		"remount":    {1, remount},
		"unmount":    {2, unmount},
		"uncover":    {3, uncover},
		"overlay":    {2, overlay},
		"disk-node":  {1, diskNode},
		"device":     {1, device},
		"any-read":   {1, anyRead},
		"chroot":     {1, func(a []string) verdict { return outcome(unix.Chroot(a[0]), "the root was changed") }},
		"pivot-root": {1, pivotRoot},
		"handle":     {1, handle},
		"fsopen":     {0, fsopen},
		"late-mount": {1, lateMount},
	}
}

// standBack keeps what follows off the host's mounts where this process has
// the power to change them: the control arm of root. Where it has not, the
// attack has to work on the mounts that there are.
func standBack() {
	if unix.Unshare(unix.CLONE_NEWNS) == nil {
		_ = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
}

// mountFlags are the flags of the mount at path that a remount must repeat,
// all but read-only.
func mountFlags(path string) uintptr {
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) != nil {
		return 0
	}
	flags := uintptr(0)
	for st, ms := range map[int64]uintptr{
		unix.ST_NOSUID: unix.MS_NOSUID, unix.ST_NODEV: unix.MS_NODEV, unix.ST_NOEXEC: unix.MS_NOEXEC,
		unix.ST_NOATIME: unix.MS_NOATIME, unix.ST_NODIRATIME: unix.MS_NODIRATIME, unix.ST_RELATIME: unix.MS_RELATIME,
	} {
		if fs.Flags&st != 0 {
			flags |= ms
		}
	}
	return flags
}

// remount makes each mount on the way to a file writable, then makes the file.
// Only flags of mounts are changed, never of a file system.
func remount(a []string) verdict {
	standBack()
	var last error
	done := false
	for dir := filepath.Dir(a[0]); ; dir = filepath.Dir(dir) {
		err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND|mountFlags(dir), "")
		if done = done || err == nil; err != nil {
			last = moreTelling(last, err)
		}
		if dir == "/" {
			break
		}
	}
	if !done {
		return blocked(last)
	}
	return plant(a[0], os.O_CREATE|os.O_WRONLY)
}

// unmount takes a mask away and reads what was under it.
func unmount(a []string) verdict {
	standBack()
	if err := unix.Unmount(a[0], unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil {
		return blocked(err)
	}
	return readSecret(a[1])
}

// uncover binds a directory elsewhere without the mounts below it, and reads
// there what they hide. uncover DIRECTORY PLACE FILE-BELOW-IT
func uncover(a []string) verdict {
	standBack()
	if err := os.MkdirAll(a[1], 0o755); err != nil {
		return blocked(err)
	}
	if err := unix.Mount(a[0], a[1], "", unix.MS_BIND, ""); err != nil {
		return blocked(err)
	}
	return readSecret(filepath.Join(a[1], a[2]))
}

// overlay puts a writable layer over a directory that is read-only.
// overlay DIRECTORY SPACE
func overlay(a []string) verdict {
	standBack()
	upper, work := filepath.Join(a[1], "upper"), filepath.Join(a[1], "work")
	if err := errors.Join(os.MkdirAll(upper, 0o755), os.MkdirAll(work, 0o755)); err != nil {
		return blocked(err)
	}
	options := "lowerdir=" + a[0] + ",upperdir=" + upper + ",workdir=" + work + ",userxattr"
	if err := unix.Mount("overlay", a[0], "overlay", 0, options); err != nil {
		return blocked(err)
	}
	return plant(filepath.Join(a[0], "planted"), os.O_CREATE|os.O_WRONLY)
}

// diskNode makes a device node for the first disk of the machine and opens it
// for reading.
func diskNode(a []string) verdict {
	major, minor, name, err := firstDisk()
	if err != nil {
		return notApplicable("%v", err)
	}
	if err := unix.Mknod(a[0], unix.S_IFBLK|0o600, int(unix.Mkdev(major, minor))); err != nil {
		return blocked(err)
	}
	defer os.Remove(a[0])
	fd, err := unix.Open(a[0], unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return blocked(err)
	}
	unix.Close(fd)
	return allowed("%s opens through a node of our own", name)
}

// firstDisk is the root disk on most machines: 254:0 stands in for it where
// the list cannot be read, so that hiding the list is not a way out.
func firstDisk() (major, minor uint32, name string, err error) {
	f, err := os.Open("/proc/partitions")
	if err != nil {
		return 254, 0, "254:0", nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		if len(fields) == 4 && fields[0] != "major" && fields[2] != "0" {
			return number(fields[0]), number(fields[1]), fields[3], nil
		}
	}
	return 0, 0, "", errors.New("this machine has no disk")
}

// device opens nodes for reading. A regular file of that name is no device.
func device(paths []string) verdict {
	var last error
	for _, p := range paths {
		fd, err := unix.Open(p, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
		if err != nil {
			last = moreTelling(last, err)
			continue
		}
		var st unix.Stat_t
		err = unix.Fstat(fd, &st)
		unix.Close(fd)
		if kind := st.Mode & unix.S_IFMT; err == nil && (kind == unix.S_IFCHR || kind == unix.S_IFBLK) {
			return allowed("%s opens", p)
		}
		last = errors.New(p + " is not a device")
	}
	return blocked(last)
}

// anyRead reads a little of the kernel's own state, and its log.
func anyRead(paths []string) verdict {
	var last error
	for _, p := range paths {
		fd, err := unix.Open(p, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err == nil {
			_, err = unix.Read(fd, make([]byte, 8192))
			unix.Close(fd)
		}
		if err == nil || errors.Is(err, unix.EAGAIN) {
			return allowed("%s can be read", p)
		}
		last = moreTelling(last, err)
	}
	_, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, make([]byte, 4096))
	if err == nil {
		return allowed("the kernel's log can be read")
	}
	return blocked(moreTelling(last, err))
}

func pivotRoot(a []string) verdict {
	standBack()
	_ = unix.Mount(a[0], a[0], "", unix.MS_BIND, "") // a new root must be a mount
	if err := unix.Chdir(a[0]); err != nil {
		return blocked(err)
	}
	return outcome(unix.PivotRoot(".", "."), "the root was changed")
}

func handle(a []string) verdict {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, a[0], 0)
	if err != nil {
		return blocked(err)
	}
	dir, err := unix.Open(filepath.Dir(a[0]), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return blocked(err)
	}
	fd, err := unix.OpenByHandleAt(dir, h, unix.O_RDONLY)
	if err != nil {
		return blocked(err)
	}
	unix.Close(fd)
	return allowed("a file was opened by number")
}

func fsopen([]string) verdict {
	fd, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return blocked(err)
	}
	unix.Close(fd)
	return allowed("a new file system was begun")
}
