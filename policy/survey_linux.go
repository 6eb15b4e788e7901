package policy

import (
	"encoding/binary"
	"os"
	"syscall"
)

// Layout of struct linux_dirent64, getdents64(2).
const (
	direntLength = 16 // of the record, 2 bytes
	direntType   = 18
	direntName   = 19
)

// listing reads directories with one buffer. os.ReadDir would allocate for
// every file; a survey needs the directories alone.
type listing struct{ buf [1 << 15]byte }

// read adds what dir holds to l. A link at dir itself is ENOTDIR.
func (l *listing) read(dir string) (names, error) {
	var n names
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return n, err
	}
	defer syscall.Close(fd)
	for {
		size, err := syscall.ReadDirent(fd, l.buf[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || size <= 0 {
			return n, err
		}
		for rest := l.buf[:size]; len(rest) > direntName; {
			record := rest[:binary.NativeEndian.Uint16(rest[direntLength:])]
			rest = rest[len(record):]
			name := record[direntName:]
			for i, c := range name {
				if c == 0 {
					name = name[:i]
					break
				}
			}
			n.add(name, isDir(dir, name, record[direntType]))
		}
	}
}

// isDir asks the file system where it does not tell types in its listings.
func isDir(dir string, name []byte, kind byte) bool {
	if kind != syscall.DT_UNKNOWN {
		return kind == syscall.DT_DIR
	}
	info, err := os.Lstat(join(dir, string(name)))
	return err == nil && info.IsDir()
}
