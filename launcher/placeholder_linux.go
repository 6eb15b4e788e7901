package launcher

import (
	"errors"
	"os"
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/platform/nofollow"
	"github.com/sbx-run/sbx/policy"
)

// placeholders are what a strict run has made on the host so that there is
// something to mount over. Each is held open under a shared lock: while any
// run holds it nobody removes it, since removing a mount point takes the
// mount away in every sandbox (rename(2), unlink(2) since Linux 3.18).
//
// Nothing here goes by a path that somebody could bend: directories are
// opened without links, and names are made, looked at and removed in them.
type placeholders struct {
	records *records
	held    []placeholder
}

// placeholder is one of them.
type placeholder struct {
	policy.Placeholder
	dir  *os.File // the directory that holds it
	file *os.File // itself, under a shared lock
	own  bool     // made by a run of this user, so the last one out removes it
}

// holdPlaceholders makes what is missing of list, parents first, and holds
// all of it. What somebody else made meanwhile is held and left alone.
func holdPlaceholders(list []policy.Placeholder, state string) (*placeholders, error) {
	p := &placeholders{}
	if len(list) == 0 {
		return p, nil
	}
	records, err := openRecords(state, true)
	if err != nil {
		return nil, &SetupError{Step: "placeholders", Path: state, Reason: err.Error(), Advice: "protect: strict keeps its records there; a directory of your own, without links, will do"}
	}
	p.records = records
	defer records.serialise()()
	for _, want := range list {
		if err := p.hold(want); err != nil {
			p.drop()
			return nil, &SetupError{Step: "placeholder", Path: want.Path, Reason: sourceReason(err)}
		}
	}
	return p, nil
}

// hold makes and locks one placeholder, and before that the directories that
// it would lie in, or that another run has made for the same purpose.
func (p *placeholders) hold(want policy.Placeholder) error {
	if slices.ContainsFunc(p.held, func(h placeholder) bool { return h.Path == want.Path }) {
		return nil
	}
	above := path.Dir(want.Path)
	dir, err := openDirectory(above)
	if above != "/" && (errors.Is(err, unix.ENOENT) || err == nil && p.records.holds(above, inodeOf(dir))) {
		if err == nil {
			dir.Close()
		}
		if err = p.hold(policy.Placeholder{Path: above, Type: policy.TypeDir}); err != nil {
			return err
		}
		dir, err = openDirectory(above)
	}
	if err != nil {
		return err
	}
	one := placeholder{Placeholder: want, dir: dir}
	if err := one.take(p.records); err != nil {
		dir.Close()
		return err
	}
	p.held = append(p.held, one)
	return nil
}

func openDirectory(p string) (*os.File, error) {
	fd, err := nofollow.Open(p)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), p), nil
}

// Another user's run may remove between our look and our lock: then it is
// made anew. A lock that a command holds on what it can read ends with it.
const (
	takeTries = 50
	takeWait  = 10 * time.Millisecond
)

// take makes the placeholder, or finds it, and locks it. The record is on
// disk before the placeholder is: whenever this process is killed, the next
// run knows where to look.
func (p *placeholder) take(r *records) error {
	for range takeTries {
		fresh, err := r.announce(p.Placeholder)
		if err != nil {
			return err
		}
		made, err := p.make()
		if err != nil {
			return err
		}
		if p.file, err = p.open(); err == nil {
			err = p.lock()
		}
		switch {
		case err == nil && made:
			p.own = true
			return r.write(p.Placeholder, inodeOf(p.file))
		case err == nil:
			p.own = r.holds(p.Path, inodeOf(p.file))
			if fresh && !p.own {
				r.remove(p.Path)
			}
			return nil
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EWOULDBLOCK):
			time.Sleep(takeWait)
		default:
			return err
		}
	}
	return errChanged
}

// make reports whether it made something: what is there already is not
// touched.
func (p *placeholder) make() (bool, error) {
	at, name := int(p.dir.Fd()), path.Base(p.Path)
	var err error
	if p.Type == policy.TypeDir {
		err = unix.Mkdirat(at, name, 0o755)
	} else {
		var fd int
		if fd, err = unix.Openat(at, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644); err == nil {
			_, err = unix.Write(fd, []byte(p.Content))
			_ = unix.Close(fd)
		}
	}
	if errors.Is(err, unix.EEXIST) {
		return false, nil
	}
	return err == nil, err
}

// open opens the placeholder itself. A link in its place is ELOOP.
func (p *placeholder) open() (*os.File, error) {
	flags := unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	if p.Type == policy.TypeDir {
		flags |= unix.O_DIRECTORY
	}
	fd, err := unix.Openat(int(p.dir.Fd()), path.Base(p.Path), flags, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), p.Path), nil
}

// lock takes the shared lock and makes sure that it is on what still has the
// name.
func (p *placeholder) lock() error {
	err := unix.Flock(int(p.file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if err == nil && !p.named() {
		err = unix.ENOENT
	}
	if err != nil {
		p.file.Close()
	}
	return err
}

// named reports whether the name still leads to the open file.
func (p *placeholder) named() bool {
	var st unix.Stat_t
	err := unix.Fstatat(int(p.dir.Fd()), path.Base(p.Path), &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && inode{st.Dev, st.Ino} == inodeOf(p.file)
}

// release lets go of all, last made first, and removes what no other run
// holds.
func (p *placeholders) release() {
	if p.records == nil {
		return
	}
	done := p.records.serialise()
	p.drop()
	done()
	p.records.close()
}

func (p *placeholders) drop() {
	for i := len(p.held) - 1; i >= 0; i-- {
		one := &p.held[i]
		if one.own && one.removeUnused() {
			p.records.remove(one.Path)
		}
		one.file.Close()
		one.dir.Close()
	}
	p.held = nil
}

// removeUnused removes the placeholder unless another run holds it, and
// reports whether nobody does. What is no longer as sbx made it stays: it is
// somebody's now.
func (p *placeholder) removeUnused() bool {
	if unix.Flock(int(p.file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return false
	}
	at, name := int(p.dir.Fd()), path.Base(p.Path)
	switch {
	case !p.named():
	case p.Type == policy.TypeDir:
		_ = unix.Unlinkat(at, name, unix.AT_REMOVEDIR) // fails unless empty
	case p.untouched():
		_ = unix.Unlinkat(at, name, 0)
	}
	return true
}

// untouched reports whether a file holds what sbx wrote.
func (p *placeholder) untouched() bool {
	content := make([]byte, len(p.Content)+1)
	n, _ := p.file.ReadAt(content, 0)
	return string(content[:n]) == p.Content
}

type inode struct{ dev, ino uint64 }

func inodeOf(f *os.File) inode {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return inode{}
	}
	return inode{st.Dev, st.Ino}
}

// stateDirectory is where records are kept.
func stateDirectory(plan platform.Plan, cmd Command) string {
	home := plan.Effective.Places.Home
	switch dir := os.Getenv("XDG_STATE_HOME"); {
	case cmd.State != "":
		return cmd.State
	case path.IsAbs(dir):
		return path.Join(dir, "sbx")
	case home != "":
		return path.Join(home, ".local/state/sbx")
	}
	return ""
}

// madeBy reports what a run has made or changed. What another run holds as
// its placeholder is not ours to report.
func madeBy(e policy.Effective) []policy.Trigger {
	return slices.DeleteFunc(e.Made(), func(t policy.Trigger) bool { return isHeld(t.Path) })
}

// isHeld reports whether some run has the placeholder lock on p.
func isHeld(p string) bool {
	fd, err := unix.Open(p, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == unix.EWOULDBLOCK
}
