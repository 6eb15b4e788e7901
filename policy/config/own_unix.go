//go:build unix

package config

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// openFlags keep a link from leading elsewhere and a FIFO from blocking.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// notOurs says why a file or directory is not to be believed: somebody else
// owns it or may write it.
func notOurs(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "its owner is not known"
	case !info.Mode().IsRegular() && !info.IsDir():
		return "not a regular file"
	case int(stat.Uid) != os.Geteuid():
		return "it belongs to another user (uid " + strconv.Itoa(int(stat.Uid)) + ")"
	case info.Mode().Perm()&0o022 != 0:
		return "others may write it"
	}
	return ""
}
