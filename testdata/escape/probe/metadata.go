//go:build linux

package main

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func metadataVerbs() map[string]verb {
	return map[string]verb{
		"truncate": {1, func(a []string) verdict { return outcome(os.Truncate(a[0], 0), "truncated") }},
		"chmod":    {1, func(a []string) verdict { return outcome(os.Chmod(a[0], 0o777), "changed") }},
		"utimes": {1, func(a []string) verdict {
			return outcome(os.Chtimes(a[0], time.Unix(1, 0), time.Unix(1, 0)), "changed")
		}},
		"stat":     {1, stat},
		"setxattr": {2, setxattr},
		"watch":    {1, watch},

		"setuid-chmod":     {1, func(a []string) verdict { return outcome(unix.Chmod(a[0], setuid), "changed") }},
		"setuid-fchmod":    {1, setuidFchmod},
		"setuid-fchmodat2": {1, setuidFchmodat2},
		"setuid-open":      {1, setuidOpen},
		"setgid-mkdir":     {1, func(a []string) verdict { return outcome(unix.Chmod(a[0], 0o2755), "changed") }},
	}
}

// stat learns that a file exists and how big it is: the secret's length.
func stat(a []string) verdict {
	info, err := os.Stat(a[0])
	switch {
	case err != nil:
		return blocked(err)
	case info.Size() < int64(len(secret)):
		return blockedFor("%d bytes: not the host's file", info.Size())
	}
	return allowed("%d bytes", info.Size())
}

func setxattr(a []string) verdict {
	err := unix.Setxattr(a[0], a[1], attribute(a[1]), 0)
	if err == unix.ENOTSUP {
		return notApplicable("the file system has no extended attributes")
	}
	return outcome(err, "set")
}

// attribute is a value that the kernel takes for the name. File capabilities
// are struct vfs_cap_data of capabilities(7), revision 2: permitted and
// effective CAP_NET_RAW, the most harmless of those that can be seen to work.
func attribute(name string) []byte {
	if name == "security.capability" {
		return []byte{1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	}
	return []byte(planted)
}

// watch waits for the events that the host makes in a directory all the time.
func watch(a []string) verdict {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return blocked(err)
	}
	defer unix.Close(fd)
	if _, err := unix.InotifyAddWatch(fd, a[0], unix.IN_ALL_EVENTS&^(unix.IN_OPEN|unix.IN_ACCESS|unix.IN_CLOSE_NOWRITE)); err != nil {
		return blocked(err)
	}
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(poll, 400)
	switch {
	case err != nil:
		return blocked(err)
	case n == 0:
		return blockedFor("no event of the host's was seen")
	}
	return allowed("a change was seen")
}

const setuid = 0o4755

func setuidFchmod(a []string) verdict {
	fd, err := unix.Open(a[0], unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return blocked(err)
	}
	defer unix.Close(fd)
	return outcome(unix.Fchmod(fd, setuid), "changed")
}

// sysFchmodat2 has the same number on all architectures (Linux 6.6).
const sysFchmodat2 = 452

func setuidFchmodat2(a []string) verdict {
	path, err := unix.BytePtrFromString(a[0])
	if err != nil {
		return blocked(err)
	}
	err = sys(sysFchmodat2, at(unix.AT_FDCWD), pointer(path), setuid, 0)
	if err == unix.ENOSYS {
		return notApplicable("fchmodat2 is new in Linux 6.6")
	}
	return outcome(err, "changed")
}

func setuidOpen(a []string) verdict {
	unix.Umask(0)
	fd, err := unix.Open(a[0], unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, setuid)
	if err != nil {
		return blocked(err)
	}
	defer unix.Close(fd)
	return allowed("made")
}
