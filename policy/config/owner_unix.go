//go:build unix

package config

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// foreignOwner says who owns the file if that is neither the caller, nor the
// administrator, nor the user behind sudo. Whoever may write into a directory
// above the working directory, /tmp for one, could otherwise plant a policy
// there (git's CVE-2022-24765 is of this kind).
func foreignOwner(info fs.FileInfo, host Host) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "its owner is not known"
	}
	uid := int(stat.Uid)
	if uid == 0 || uid == os.Geteuid() {
		return ""
	}
	if sudo, ok := host.lookup("SUDO_UID"); ok && os.Geteuid() == 0 && sudo == strconv.Itoa(uid) {
		return ""
	}
	return "it belongs to another user (uid " + strconv.Itoa(uid) + ")"
}
