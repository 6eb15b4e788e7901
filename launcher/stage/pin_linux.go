package stage

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/nofollow"
)

// tryPin mounts a link onto itself. Whether a kernel does that is nowhere
// written down.
func (b *building) tryPin() error {
	const name = "pinned"
	if err := unix.Symlinkat("nowhere", b.scratch, name); err != nil {
		return err
	}
	link, err := unix.Openat(b.scratch, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(link)
	mount, err := pin(link)
	if err != nil {
		return err
	}
	defer unix.Close(mount)
	if err := put(mount, link); err != nil {
		return err
	}
	if err := unix.Unlinkat(b.scratch, name, 0); !errors.Is(err, unix.EBUSY) {
		return errors.New("a mounted link can be removed")
	}
	return nil
}

// showLink copies the mount at a link of the host, if that is the one that the
// launcher has seen and still says the same.
func showLink(s Step) (int, error) {
	at, text, err := nofollow.OpenLink(s.Path)
	if err != nil {
		return -1, err
	}
	defer unix.Close(at)
	got, _, err := Identify(at)
	if err != nil {
		return -1, err
	}
	if got != s.Shown || text != s.Target {
		return -1, ErrChanged
	}
	return pin(at)
}

// pin makes a read-only mount of an open link, attached nowhere. Its root is
// the link itself: look-ups that come upon it go where it leads as before, but
// the kernel removes and renames no mount point.
func pin(link int) (int, error) {
	mount, err := unix.OpenTree(link, "", cloned|unix.AT_EMPTY_PATH)
	if err != nil {
		return -1, err
	}
	err = unix.MountSetattr(mount, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: harmless | unix.MOUNT_ATTR_RDONLY})
	if err != nil {
		_ = unix.Close(mount)
		return -1, err
	}
	return mount, nil
}
