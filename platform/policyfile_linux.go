package platform

import (
	"path"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/policy"
)

// changeable returns the policy files that a command under the built-in
// backend could change, or replace by others: Landlock grants directories with
// all that is in them. What a mount around this process keeps read-only, as in
// a sandbox inside a sandbox or by a container's read-only volume, is kept for
// the command too.
func changeable(e policy.Effective) (files []string) {
	for _, p := range e.PolicyFiles() {
		if !heldByMounts(e, p) {
			files = append(files, p)
		}
	}
	return files
}

// heldByMounts reports whether p is read-only by its mount, and no name on the
// way to it from the root of the grant can be given to another file: the kernel
// renames and removes no mount point.
func heldByMounts(e policy.Effective, p string) bool {
	if !onReadOnlyMount(p) {
		return false
	}
	for name := p; e.Area.Above(name).Access.Has(policy.Write); name = path.Dir(name) {
		if !isMountPoint(name) && !onReadOnlyMount(path.Dir(name)) {
			return false
		}
	}
	return true
}

func onReadOnlyMount(p string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(p, &fs) == nil && fs.Flags&unix.ST_RDONLY != 0
}

// isMountPoint is false for a link, which Statfs would have followed, and on
// kernels that do not tell (before Linux 5.8).
func isMountPoint(p string) bool {
	var sx unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, p, unix.AT_SYMLINK_NOFOLLOW, 0, &sx)
	return err == nil && sx.Mode&unix.S_IFMT != unix.S_IFLNK && sx.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
