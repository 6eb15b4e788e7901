package bwrap

import (
	"strconv"
)

// Features are the options of one bubblewrap that not every version has.
// Distributions back-port some, so they are probed, not told by the version.
type Features struct {
	BindFD        bool `json:"bind_fd"`        // --bind-fd, --ro-bind-fd (0.10.0, back-ported)
	DisableUserns bool `json:"disable_userns"` // --disable-userns (0.8.0)
	Size          bool `json:"size"`           // --size (0.7.0)
	Perms         bool `json:"perms"`          // --perms (0.5.0)
}

// AllFeatures is what a current bubblewrap has.
func AllFeatures() Features {
	return Features{BindFD: true, DisableUserns: true, Size: true, Perms: true}
}

// MaxArgs is how many arguments bubblewrap takes, also through --args; more
// is an error of its own (0.13.1 and before).
const MaxArgs = 9000

// Options are the parts of a command line that do not come from the view.
type Options struct {
	Features   Features
	ShareNet   bool
	NewSession bool // detach from the terminal; for runs without one
	Chdir      string
	Stage      Stage // what others make; the zero value is nothing

	// FD gives the open descriptor for the i-th mount of the layout, for
	// operations FromHost, and an empty file's for MaskFile. If nil, arguments
	// name paths: good to read and to try by hand, open to races in a launch.
	FD func(i int) int
}

// Args returns the bubblewrap options for a layout, without the command.
func Args(l Layout, o Options) []string {
	w := writer{o: o}
	w.add("--unshare-user", "--unshare-all")
	if o.ShareNet {
		w.add("--share-net")
	}
	if o.Features.DisableUserns {
		w.add("--disable-userns")
	}
	w.add("--die-with-parent", "--cap-drop", "ALL", "--hostname", "sbx")
	if o.NewSession {
		w.add("--new-session")
	}
	for i, m := range l.Mounts {
		if !o.Stage.Holds(i) {
			w.mount(i, m)
		}
	}
	w.mountPoints(o.Stage)
	w.remounts(l)
	if o.Chdir != "" {
		w.add("--chdir", o.Chdir)
	}
	return w.args
}

type writer struct {
	o    Options
	args []string
}

func (w *writer) add(args ...string) { w.args = append(w.args, args...) }

func (w *writer) mount(i int, m Mount) {
	switch m.Op {
	case ROBind:
		w.bind("--ro-bind", i, m.Path)
	case Bind, Pin:
		w.bind("--bind", i, m.Path)
	case Copy:
		w.copy(i, m.Path)
	case Symlink:
		w.add("--symlink", m.Target, m.Path)
	case Tmpfs:
		w.tmpfs(m.Path, m.Size)
	case MaskDir:
		w.maskDir(m.Path)
	case MaskFile:
		w.maskFile(i, m.Path)
	case Dev:
		w.add("--dev", m.Path)
	case Proc:
		w.add("--proc", m.Path, "--ro-bind", m.Path+"/sys", m.Path+"/sys")
	}
}

// bind names the source by descriptor where there is one. Without --bind-fd
// the descriptor goes by its /proc name, which bubblewrap resolves to a path
// again: the check from inside closes that gap.
func (w *writer) bind(option string, i int, p string) {
	switch {
	case w.o.FD == nil:
		w.add(option, p, p)
	case w.o.Features.BindFD:
		w.add(option+"-fd", strconv.Itoa(w.o.FD(i)), p)
	default:
		w.add(option, "/proc/self/fd/"+strconv.Itoa(w.o.FD(i)), p)
	}
}

func (w *writer) copy(i int, p string) {
	if w.o.FD == nil {
		w.add("--ro-bind", p, p)
		return
	}
	if w.o.Features.Perms {
		w.add("--perms", "0444")
	}
	w.add("--file", strconv.Itoa(w.o.FD(i)), p)
}

func (w *writer) maskFile(i int, p string) {
	if w.o.FD == nil {
		w.add("--ro-bind", "/dev/null", p)
		return
	}
	if w.o.Features.Perms {
		w.add("--perms", "0444")
	}
	w.add("--ro-bind-data", strconv.Itoa(w.o.FD(i)), p)
}

// maskSize bounds a mask in case it is ever written to: one page.
const maskSize = 4096

// maskDir makes a directory without write permission where that is possible:
// each --remount-ro reads the whole mount table, which makes a thousand of
// them take two seconds. The command could grant itself the permission, and
// would then write to one page of memory that nobody else sees.
func (w *writer) maskDir(p string) {
	if w.o.Features.Perms {
		w.add("--perms", "0555")
	}
	w.tmpfs(p, maskSize)
}

func (w *writer) tmpfs(p string, size int64) {
	if w.o.Features.Size && size > 0 {
		w.add("--size", strconv.FormatInt(size, 10))
	}
	w.add("--tmpfs", p)
}

// mountPoints makes the places of trees that are attached later. In the
// host's root they are there.
func (w *writer) mountPoints(s Stage) {
	if s.Root >= 0 {
		return
	}
	for _, site := range s.Sites {
		w.add("--dir", site)
	}
}

// remounts close what bubblewrap leaves writable: masks that it made writable,
// the device directory and the root, in that order. A root that is the host's
// and granted writable stays as it is.
func (w *writer) remounts(l Layout) {
	for i, m := range l.Mounts {
		if m.Op == MaskDir && !w.o.Features.Perms && !w.o.Stage.Holds(i) || m.Op == Dev {
			w.add("--remount-ro", m.Path)
		}
	}
	if !l.RootWritable() {
		w.add("--remount-ro", "/")
	}
}
