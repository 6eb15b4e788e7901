package stage

import (
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// What the sandbox's own processes cannot look up is looked up for them, by
// the descriptor of the root that they have: it shows their mounts, and the
// rights are ours.

// openRoot opens the root of a process, with the mounts that the process sees.
func openRoot(pid int) (int, error) {
	root, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("looking into the sandbox: %w", err)
	}
	return root, nil
}

// openSites opens the places where trees are to be attached. Those that were
// opened before an error come with it.
func openSites(root int, sites []string) (points []int, err error) {
	for _, site := range sites {
		point, err := findAny(root, site[1:])
		if err != nil {
			return points, fail(site, err)
		}
		points = append(points, point)
	}
	return points, nil
}

// verify looks at every mount of the steps, as the stub does at all others.
func verify(root int, steps []Step) error {
	for _, s := range steps {
		if err := s.verify(root); err != nil {
			return fail(s.Path, err)
		}
	}
	return nil
}

func (s Step) verify(root int) error {
	look := find
	if s.Op == PinLink {
		look = findAny
	}
	fd, err := look(root, s.Path[1:])
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var sx unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS, &sx); err != nil {
		return err
	}
	if sx.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT != 0 && sx.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 {
		return errors.New("nothing is mounted here")
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return err
	}
	switch readOnly, want := fs.Flags&unix.ST_RDONLY != 0, s.Op != ShowRW && s.Op != Tmpfs; {
	case readOnly && !want:
		return errors.New("it is mounted read-only, against the plan")
	case want && !readOnly:
		return errors.New("it is mounted writable, against the plan")
	}
	if s.Op != ShowRO && s.Op != ShowRW && s.Op != PinLink {
		if fs.Type != unix.TMPFS_MAGIC || s.Op == MaskFile && sx.Size != 0 {
			return errors.New("not an empty file system of the sandbox")
		}
		return nil
	}
	got, _, err := Identify(fd)
	if err == nil && got != s.Shown {
		err = errors.New("another file than the one that was opened for it")
	}
	return err
}
