//go:build linux || darwin

package launcher

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform"
)

// scratch is the directory of one run that stands for the private home and
// /tmp where no namespace can make them. Whoever runs holds a lock on it; one
// that nobody holds was left behind by a run that was killed, and the next run
// removes it.
type scratch struct {
	dir  string
	lock *os.File
}

// home and tmp are what the command gets as HOME and TMPDIR.
func (s *scratch) home() string { return s.dir + "/home" }
func (s *scratch) tmp() string  { return s.dir + "/tmp" }

// newScratch makes a directory below the user's own one in the system's
// directory for temporary files, after sweeping that one.
func newScratch() (s *scratch, err error) {
	for range mostTries {
		if s, err = tryScratch(); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EWOULDBLOCK) {
			return s, err
		}
	}
	return nil, err
}

// mostTries bounds how often other runs may sweep a directory away before
// this one has locked it.
const mostTries = 100

func tryScratch() (*scratch, error) {
	own, err := ownTemp()
	if err != nil {
		return nil, err
	}
	sweep(own)
	dir, err := os.MkdirTemp(own, "run-")
	if err != nil {
		return nil, err
	}
	s := &scratch{dir: dir}
	if s.lock, err = lock(dir); err != nil {
		os.Remove(dir)
		return nil, err
	}
	return s, nil
}

// fill makes the home and /tmp in the directory, which takes a while on a disk.
func (s *scratch) fill() error {
	if err := errors.Join(os.Mkdir(s.home(), 0o700), os.Mkdir(s.tmp(), 0o700)); err != nil {
		return &SetupError{Step: "scratch directory", Reason: err.Error()}
	}
	return nil
}

// ownTemp returns a directory that only this user can write to. In /tmp
// anybody could have placed something of its name before.
func ownTemp() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("sbx-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return "", err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Getuid() || st.Mode&0o077 != 0 {
		return "", fmt.Errorf("%s is not a directory that belongs to this user alone", dir)
	}
	return filepath.EvalSymlinks(dir)
}

// lock takes the lock of a run's directory, or fails if a live run has it.
// The descriptor closes on exec, so the command does not inherit it.
func lock(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC, 0) // os.Open would set the runtime's poller up
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	f := os.NewFile(uintptr(fd), dir)
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		err = stillAt(dir, f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// stillAt fails with fs.ErrNotExist if f was removed since it was opened.
func stillAt(p string, f *os.File) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Lstat(p)
	if err == nil && !os.SameFile(opened, there) {
		err = fs.ErrNotExist
	}
	return err
}

// sweep removes what killed runs left behind. Between making a directory and
// locking it another run may sweep it away; that run then starts anew.
func sweep(own string) {
	entries, err := os.ReadDir(own)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), "run-") {
			continue
		}
		left := scratch{dir: filepath.Join(own, e.Name())}
		if left.lock, err = lock(left.dir); err == nil {
			left.remove()
		}
	}
}

// remove deletes the directory with all that the command left in it, and the
// user's own one if this was the last run.
func (s *scratch) remove() {
	if !s.removeEmpty() && os.RemoveAll(s.dir) != nil {
		openUp(s.dir)
		_ = os.RemoveAll(s.dir) // the next run tries again
	}
	s.lock.Close()
	_ = os.Remove(filepath.Dir(s.dir)) // fails while other runs are in it
}

// removeEmpty is enough after most commands, and quicker than to look first.
func (s *scratch) removeEmpty() bool {
	return unix.Rmdir(s.home()) == nil && unix.Rmdir(s.tmp()) == nil && unix.Rmdir(s.dir) == nil
}

// openUp gives the owner back what the command took from directories. Links
// are not followed: WalkDir reports them and does not enter.
func openUp(dir string) {
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
}

// relocate points the command to the scratch directory wherever it would have
// found its private home or /tmp.
func relocate(plan platform.Plan, cmd Command, place *scratch) Command {
	home := Home(plan.Effective)
	env := make([]string, len(cmd.Env))
	for i, v := range cmd.Env {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case value == "/tmp" && name == "TMPDIR":
			v = name + "=" + place.tmp()
		case value == home && (name == "HOME" || name == "PWD"):
			v = name + "=" + place.home()
		}
		env[i] = v
	}
	cmd.Env = env
	if cmd.Dir == home {
		cmd.Dir = place.home()
	}
	return cmd
}
