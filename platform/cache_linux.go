package platform

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// identity is what a probe's result hangs on. If any of it changes, the probe
// is made again.
type identity struct {
	Program      string
	Device       uint64
	Inode        uint64
	Size         int64
	ModifiedNano int64
	Kernel       string
	User         int
	Around       string // namespaces and filters that this process is in
}

func identify(program string) (identity, error) {
	var st unix.Stat_t
	if err := unix.Stat(program, &st); err != nil {
		return identity{}, err
	}
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return identity{}, err
	}
	return identity{
		Program:      program,
		Device:       st.Dev,
		Inode:        st.Ino,
		Size:         st.Size,
		ModifiedNano: st.Mtim.Nano(),
		Kernel:       unix.ByteSliceToString(uts.Release[:]) + " " + unix.ByteSliceToString(uts.Version[:]),
		User:         os.Getuid(),
		Around:       around(),
	}, nil
}

// around tells a process inside a container or another sandbox from one
// outside that has the same home.
func around() string {
	user, _ := os.Readlink("/proc/self/ns/user")
	mnt, _ := os.Readlink("/proc/self/ns/mnt")
	filter, _ := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return user + " " + mnt + " seccomp:" + strconv.Itoa(filter) + " max_user_namespaces:" + setting("/proc/sys/user/max_user_namespaces")
}

// The cache file holds one probe, since one bubblewrap is in use at a time:
// the identity on its first line, the version and the options it has on the
// next ones. Plain lines cost a run's start nothing to read.
const cacheName = "bwrap"

// line writes the identity so that equal lines are equal identities: no part
// holds a NUL.
func (id identity) line() string {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return strconv.Quote(strings.Join([]string{
		id.Program, number(id.Device), number(id.Inode), strconv.FormatInt(id.Size, 10), strconv.FormatInt(id.ModifiedNano, 10),
		id.Kernel, strconv.Itoa(id.User), id.Around,
	}, "\x00"))
}

// cachedProbe returns the probe for program, from the cache in dir if that
// holds one of the same identity. Only successes are kept: what failed may
// have been put right. dir may be empty, and a cache that cannot be read or
// written only costs time.
func cachedProbe(program, dir string) Probe {
	id, err := identify(program)
	if err != nil || dir == "" {
		return probeBwrap(program)
	}
	if p, ok := readCache(dir, id); ok {
		return p
	}
	p := probeBwrap(program)
	if p.Works {
		writeCache(dir, id, p)
	}
	return p
}

// readCache trusts the file only if nobody else can have written it: it says
// which safety options the next run may count on.
func readCache(dir string, id identity) (Probe, bool) {
	fd, err := unix.Open(filepath.Join(dir, cacheName), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return Probe{}, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG ||
		int(st.Uid) != os.Getuid() || st.Mode&0o022 != 0 {
		return Probe{}, false
	}
	known, rest, _ := strings.Cut(readSmall(fd), "\n")
	version, options, complete := strings.Cut(rest, "\n")
	if known != id.line() || !complete {
		return Probe{}, false
	}
	return Probe{Program: id.Program, Version: version, Works: true, Features: featuresOf(options)}, true
}

// readSmall returns the content of a small file, as far as 4 KiB of it, and ""
// for one that cannot be read. os.File would ask for its flags and register it
// with the poller first.
func readSmall(fd int) string {
	var b [4096]byte
	n := 0
	for n < len(b) {
		more, err := unix.Read(fd, b[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return ""
		}
		if more == 0 {
			break
		}
		n += more
	}
	return string(b[:n])
}

func writeCache(dir string, id identity, p Probe) {
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(dir, cacheName+".*")
	if err != nil {
		return
	}
	_, werr := fmt.Fprintf(f, "%s\n%s\n%s", id.line(), p.Version, optionsOf(p.Features))
	cerr := f.Close()
	if werr != nil || cerr != nil || os.Rename(f.Name(), filepath.Join(dir, cacheName)) != nil {
		os.Remove(f.Name())
	}
}
