//go:build unix

package policy

import (
	"io/fs"
	"syscall"
)

// identify returns which file info is about and how many names it has.
func identify(info fs.FileInfo) (id fileID, links int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return fileID{}, 0, false
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}, int(st.Nlink), true //nolint:unconvert // the types differ between systems
}
