package launcher

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/launcher/stage"
	"github.com/sbx-run/sbx/launcher/stub"
	"github.com/sbx-run/sbx/platform/nofollow"
	"github.com/sbx-run/sbx/policy"
)

// source is what a mount shows, pinned by a descriptor, or known by its
// identity if others open it.
type source struct {
	file *os.File
	stage.Identity
	far bool // out of the stub's reach: who attaches it looks at it
}

// sources holds the sources of a layout; entries that show nothing of the host
// are zero.
type sources []source

// openSources opens what every mount of the layout shows; what is staged is
// only looked at, because a process with threads waits long for room for many
// descriptors. The plan resolved all links; if one stands in the way now,
// somebody changed the tree in between and the run ends.
func openSources(layout bwrap.Layout, staged bwrap.Stage) (sources, error) {
	opened := make(sources, len(layout.Mounts))
	var mask source // shared by all: it reads as empty for each
	for i, m := range layout.Mounts {
		if m.Op == bwrap.MaskFile && (mask.file != nil || staged.Holds(i)) {
			opened[i] = mask
			continue
		}
		s, err := openSource(m)
		if err != nil {
			opened.Close()
			return nil, sourceError(m.Path, err)
		}
		if staged.Holds(i) && m.Op != bwrap.Copy && s.file != nil {
			s.file.Close()
			s.file = nil
		}
		if m.Op == bwrap.MaskFile {
			mask = s
		}
		opened[i] = s
	}
	return opened, nil
}

func sourceError(p string, err error) error {
	e := &SetupError{Step: "open", Path: p, Reason: sourceReason(err)}
	if errors.Is(err, unix.EMFILE) {
		e.Advice = "every granted path takes one: raise the limit (ulimit -n), or grant directories that hold several"
	}
	return e
}

func openSource(m bwrap.Mount) (source, error) {
	switch {
	case m.Op == bwrap.MaskFile:
		fd, err := openToCopy(os.DevNull)
		if err != nil {
			return source{}, err
		}
		return source{file: os.NewFile(uintptr(fd), os.DevNull)}, nil
	case !m.Op.FromHost():
		return source{}, nil
	}
	open := nofollow.Open
	switch m.Op {
	case bwrap.Copy:
		open = openToCopy
	case bwrap.PinLink:
		open = openLink
	}
	fd, err := open(m.Path)
	if err != nil {
		return source{}, err
	}
	s := source{file: os.NewFile(uintptr(fd), m.Path)}
	var mode uint32
	if s.Identity, mode, err = stage.Identify(fd); err == nil {
		err = checkType(m, mode&unix.S_IFMT)
	}
	if err != nil {
		s.file.Close()
		return source{}, err
	}
	return s, nil
}

// openToCopy follows links: /etc/resolv.conf is one on many systems, and only
// files of the system base are copied, whose links the administrator places.
func openToCopy(p string) (int, error) {
	return unix.Open(p, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
}

func openLink(p string) (int, error) {
	fd, _, err := nofollow.OpenLink(p)
	return fd, err
}

var errChanged = errors.New("it changed while sbx was starting")

// checkType compares what was opened with what the plan was made for.
func checkType(m bwrap.Mount, mode uint32) error {
	if m.Op == bwrap.Copy && mode != unix.S_IFREG {
		return errors.New("not a regular file")
	}
	isDir := mode == unix.S_IFDIR
	if m.Type == policy.TypeDir && !isDir || m.Type == policy.TypeFile && isDir {
		return errChanged
	}
	return nil
}

func sourceReason(err error) string {
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EINVAL):
		return errChanged.Error()
	}
	return err.Error()
}

// Close closes all descriptors.
func (s sources) Close() {
	for _, src := range s {
		if src.file != nil {
			src.file.Close()
		}
	}
}

// checks says what the stub must find inside for a layout with these sources,
// as far as it can see.
func (s sources) checks(layout bwrap.Layout) []stub.Check {
	checks := []stub.Check{{Path: "/proc/sys", Want: stub.OwnRO}}
	if !layout.RootWritable() {
		checks = append(checks, stub.Check{Path: "/", Want: stub.OwnRO})
	}
	for i, m := range layout.Mounts {
		if want, ok := wanted(m); ok && !s[i].far {
			checks = append(checks, stub.Check{Path: m.Path, Want: want, Dev: s[i].Dev, Ino: s[i].Ino})
		}
	}
	return checks
}

func wanted(m bwrap.Mount) (stub.Want, bool) {
	switch m.Op {
	case bwrap.ROBind:
		return stub.HostRO, true
	case bwrap.Bind, bwrap.Pin:
		return stub.HostRW, true
	case bwrap.Tmpfs:
		return stub.OwnRW, true
	case bwrap.MaskDir:
		return stub.EmptyDir, true
	case bwrap.MaskFile:
		return stub.EmptyFile, true
	case bwrap.Dev:
		return stub.OwnRO, true
	}
	return 0, false
}
