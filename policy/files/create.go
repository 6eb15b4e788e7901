//go:build unix

package files

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// temporaryName returns a name that nobody can have guessed and taken.
func temporaryName() string {
	random := make([]byte, 12)
	_, _ = rand.Read(random) // never fails: crypto/rand
	return ".sbx-" + hex.EncodeToString(random)
}

// create makes the file temp in d, fills it and gives it the name final, with
// the permissions of like, if there is one. On failure temp is gone.
func (d dir) create(temp, final, content string, like *unix.Stat_t) error {
	perm := uint32(0o666) // less the umask
	if like != nil {
		perm = 0o600
	}
	file, err := d.open(temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, perm)
	if err != nil {
		return err
	}
	err = fill(file, content, like)
	if closed := file.Close(); err == nil {
		err = numberOf(closed) // some file systems report a full disk here
	}
	if err == nil && temp != final {
		err = unix.Renameat(d.fd, temp, d.fd, final)
	}
	if err != nil {
		_ = unix.Unlinkat(d.fd, temp, 0)
	}
	return err
}

// fill writes content and brings it to the disk before the file gets its name.
func fill(file *os.File, content string, like *unix.Stat_t) error {
	if _, err := io.WriteString(file, content); err != nil {
		return numberOf(err)
	}
	if like != nil {
		if err := adopt(file, *like); err != nil {
			return err
		}
	}
	return numberOf(file.Sync())
}

// adopt gives file the owner, group and permission bits of like. Where the
// group cannot be kept, its members get no more than everybody. Bits that
// make a program run as somebody else are dropped.
func adopt(file *os.File, like unix.Stat_t) error {
	perm := uint32(like.Mode) & 0o777
	now, err := fstat(file)
	if err != nil {
		return err
	}
	fd := int(file.Fd())
	if now.Uid != like.Uid || now.Gid != like.Gid {
		if unix.Fchown(fd, int(like.Uid), int(like.Gid)) != nil && unix.Fchown(fd, -1, int(like.Gid)) != nil {
			perm &= 0o707 | perm<<3&0o070
		}
	}
	return unix.Fchmod(fd, perm)
}

// numberOf strips names of files from an error: they are the host's.
func numberOf(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
