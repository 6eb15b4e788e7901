package stage

import "golang.org/x/sys/unix"

// Identify looks at an open file, also one opened by O_PATH.
func Identify(fd int) (id Identity, mode uint32, err error) {
	var sx unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &sx); err != nil {
		return Identity{}, 0, err
	}
	id = Identity{Dev: unix.Mkdev(sx.Dev_major, sx.Dev_minor), Ino: sx.Ino}
	if sx.Mask&unix.STATX_BTIME != 0 {
		id.Born = sx.Btime.Sec*1e9 + int64(sx.Btime.Nsec)
	}
	return id, uint32(sx.Mode), nil
}
