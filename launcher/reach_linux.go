package launcher

import (
	"errors"
	"path"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/bwrap"
)

// root may look into every directory, by two capabilities. bubblewrap and the
// stub may not: their user namespace knows one user, so that it has no power
// over the directories of others, and the stub has no capabilities at all.
// What lies below a directory that is closed to them has to be mounted, and
// looked at afterwards, from here.
const overrides = 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH

// reach holds the mounts that can only be looked up with those capabilities,
// in the order of the layout.
type reach []int

// outOfReach looks for them. The kernel is asked, not the mode: there are
// access lists and groups.
func outOfReach(layout bwrap.Layout) (far reach, err error) {
	err = withoutOverrides(func() {
		for i, m := range layout.Mounts {
			if byPath(m.Op) && closed(m.Path) {
				far = append(far, i)
			}
		}
	})
	return far, err
}

// firstOutside returns the first of them that is not staged, -1 if all are.
func (r reach) firstOutside(staged bwrap.Stage) int {
	for _, i := range r {
		if !staged.Holds(i) {
			return i
		}
	}
	return -1
}

// mark notes which sources are far.
func (s sources) mark(far reach) {
	for _, i := range far {
		s[i].far = true
	}
}

// byPath reports whether a mount needs a place of the host to be looked up:
// what it shows, or what it covers.
func byPath(op bwrap.Op) bool {
	switch op {
	case bwrap.Copy, bwrap.Symlink, bwrap.Dev, bwrap.Proc:
		return false
	}
	return true
}

// closed reports whether a directory on the way to p refuses the calling
// thread.
func closed(p string) bool {
	var st unix.Stat_t
	return errors.Is(unix.Lstat(p, &st), unix.EACCES)
}

// withoutOverrides calls f without the capabilities; not at all, if the
// thread has none. They are the thread's alone, and it keeps the permission to
// take them back.
func withoutOverrides(f func()) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var before [2]unix.CapUserData
	if err := unix.Capget(&header, &before[0]); err != nil {
		return err
	}
	lowered := before
	lowered[0].Effective &^= overrides
	if lowered == before {
		return nil
	}
	if err := unix.Capset(&header, &lowered[0]); err != nil {
		return err
	}
	f()
	return unix.Capset(&header, &before[0])
}

// closedError is the error for a mount that is out of reach and that sbx
// cannot make either.
func closedError(p string) error {
	dir := closedAbove(p)
	if dir == "" { // opened meanwhile
		return &SetupError{Step: "mount", Path: p, Reason: unix.EACCES.Error()}
	}
	return &SetupError{
		Step: "mount", Path: p,
		Reason: dir + " is closed to root in a sandbox, and this machine does not let sbx mount anything below it",
		Advice: "run it as the owner of " + dir + ", or leave it out: --deny " + dir,
	}
}

// closedAbove returns the first directory on the way to p that cannot be
// searched without the capabilities; empty if there is none.
func closedAbove(p string) (dir string) {
	_ = withoutOverrides(func() { // failing, it leaves dir empty
		for ; p != "/" && closed(p); p = path.Dir(p) {
			dir = path.Dir(p)
		}
	})
	return dir
}
