//go:build unix

package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// overwrite changes the file in place, where no second file may lie beside it.
// What goes beyond the old end is written first: a full disk shows there,
// before a byte of the old content is lost.
func (at place) overwrite(content string) error {
	file, err := at.openToWrite(unix.O_RDWR)
	if err != nil {
		return err
	}
	defer file.Close()
	st, err := fstat(file)
	if err != nil {
		return err
	}
	head := min(int64(len(content)), st.Size)
	old := make([]byte, head)
	if _, err := file.ReadAt(old, 0); err != nil {
		return numberOf(err)
	}
	if err := writeSynced(file, content[head:], head); err != nil {
		_ = file.Truncate(st.Size)
		return err
	}
	if err := writeSynced(file, content[:head], 0); err != nil {
		_ = writeSynced(file, string(old), 0)
		_ = file.Truncate(st.Size)
		return err
	}
	return numberOf(file.Truncate(int64(len(content))))
}

func writeSynced(file *os.File, content string, offset int64) error {
	if _, err := file.WriteAt([]byte(content), offset); err != nil {
		return numberOf(err)
	}
	return numberOf(file.Sync())
}
