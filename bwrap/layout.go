package bwrap

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// Op is what a Mount does at its path.
type Op uint8

// The operations, each one bubblewrap option or a fixed group of them.
const (
	ROBind   Op = iota // the host's file or directory, read-only
	Bind               // the host's file or directory, writable
	Pin                // a writable bind onto itself, so that the directory cannot be renamed
	PinLink            // a symbolic link, mounted onto itself so that it cannot be replaced: only a Stage can
	Copy               // a small system file, copied into the root at start
	Symlink            // a symbolic link
	Tmpfs              // an empty writable directory in memory
	MaskDir            // an empty read-only directory
	MaskFile           // an empty read-only file
	Dev                // a new /dev with the harmless devices
	Proc               // a new /proc for the sandbox's processes
)

var opNames = [...]string{"ro-bind", "bind", "pin", "pin-link", "copy", "symlink", "tmpfs", "mask-dir", "mask-file", "dev", "proc"}

// String names the operation in messages and goldens.
func (o Op) String() string { return opNames[o] }

// FromHost reports whether the operation shows a file of the host, for which
// the launcher opens a descriptor.
func (o Op) FromHost() bool { return o <= Copy }

// Mount is one step of a Layout.
type Mount struct {
	Op     Op
	Path   string          // where, in the sandbox; for FromHost operations also the host path
	Target string          // text of a Symlink or PinLink
	Type   policy.FileType // of the host's file, as the policy resolved it
	Size   int64           // bytes a Tmpfs may hold
}

// Layout is what a command sees, as mounts in the order in which they are to
// be made. It asks for all that some machine can do: see Without.
type Layout struct {
	Mounts []Mount

	// WriteOnly lists drop boxes. A mount cannot express "write, do not
	// read": they are bound writable here, and only Landlock inside makes them
	// what the policy says.
	WriteOnly []string

	// Absent lists hidden or protected paths that do not exist inside a
	// writable bind and have no placeholder. Nothing can be mounted there
	// without leaving an empty file on the host, so a command can create them.
	Absent []policy.Entry

	// Placeholders are to be made before the mounts and removed after the run.
	Placeholders []policy.Placeholder
}

// RootWritable reports whether "/" itself is granted for writing.
func (l Layout) RootWritable() bool {
	return len(l.Mounts) > 0 && l.Mounts[0].Op == Bind && l.Mounts[0].Path == "/"
}

// Without returns the layout without those mounts that drop names: what this
// machine has nothing for, or no means.
func (l Layout) Without(drop func(Mount) bool) Layout {
	l.Mounts = slices.DeleteFunc(slices.Clone(l.Mounts), drop)
	return l
}

// PinsLinks reports whether the layout has mounts that only a Stage can make.
func (l Layout) PinsLinks() bool {
	return slices.ContainsFunc(l.Mounts, func(m Mount) bool { return m.Op == PinLink })
}

// DefaultTmp caps each private file system that has no limit of its own.
// bubblewrap's default would be half of the machine's memory.
const DefaultTmp = 1 << 30

// shmSize caps /dev/shm below the other private places: it holds shared
// memory, not files.
const shmSize = 256 << 20

// state is what lies at a place once the mounts so far are made.
type state uint8

const (
	skeleton state = iota // the root tmpfs: bare directories that lead to mounts
	private               // a tmpfs of the sandbox
	hostRead
	hostWrite
	masked
)

// KeyLists are the files of a new /proc that show what belongs to no
// namespace: the names of all keys that the user has, and how many. A kernel
// without keys lacks them.
var KeyLists = []string{"/proc/key-users", "/proc/keys"}

// region is a part of the tree with one state, from its root downward.
type region struct {
	root  string
	state state
	mount string // root of the mount that the region belongs to
}

// NewLayout computes the mounts for e. It fails only on entries that cannot
// be carried out safely: a place to hide whose type is not known.
func NewLayout(e policy.Effective) (Layout, error) {
	b := builder{
		effective: e,
		open:      []region{{root: "/", state: skeleton, mount: "/"}},
		pinned:    map[string]bool{},
		standIns:  map[string]policy.FileType{},
	}
	b.layout.Placeholders = e.Placeholders()
	for _, p := range b.layout.Placeholders {
		b.standIns[p.Path] = p.Type
	}
	loose := e.LooseLinks()
	for _, entry := range e.Area.Entries() {
		for len(loose) > 0 && policy.ComparePaths(loose[0].Path, entry.Path) < 0 {
			b.pinLink(loose[0])
			loose = loose[1:]
		}
		if err := b.add(entry); err != nil {
			return Layout{}, err
		}
	}
	for _, t := range loose {
		b.pinLink(t)
	}
	b.addLinks(e.Links)
	return b.layout, nil
}

type builder struct {
	effective policy.Effective
	layout    Layout
	open      []region // regions that enclose the current entry, outermost first
	pinned    map[string]bool
	standIns  map[string]policy.FileType // by path: what a placeholder is
}

// add emits what entry needs beyond what its surroundings show already.
func (b *builder) add(entry policy.Entry) error {
	b.enter(entry.Path)
	if is, ok := b.standIns[entry.Path]; ok {
		entry.Type = is
	}
	switch entry.Kind {
	case policy.Private:
		b.addPrivate(entry.Path)
	case policy.Hidden:
		return b.hide(entry)
	default:
		b.show(entry)
	}
	return nil
}

// enter leaves the regions that do not hold p.
func (b *builder) enter(p string) {
	for len(b.open) > 1 && !policy.Contains(b.top().root, p) {
		b.open = b.open[:len(b.open)-1]
	}
}

func (b *builder) top() region { return b.open[len(b.open)-1] }

// push opens a region that a mount at its root begins.
func (b *builder) push(p string, s state) {
	b.open = append(b.open, region{root: p, state: s, mount: p})
}

// keep opens a region inside the mount that is there already.
func (b *builder) keep(p string) {
	b.open = append(b.open, region{root: p, state: b.top().state, mount: b.top().mount})
}

func (b *builder) emit(m Mount) { b.layout.Mounts = append(b.layout.Mounts, m) }

func (b *builder) addPrivate(p string) {
	switch p {
	case "/dev":
		b.emit(Mount{Op: Dev, Path: p})
		b.emit(Mount{Op: Tmpfs, Path: "/dev/shm", Size: min(shmSize, b.tmpSize())})
		b.push(p, masked)
	case "/proc":
		b.emit(Mount{Op: Proc, Path: p})
		for _, file := range KeyLists {
			b.emit(Mount{Op: MaskFile, Path: file, Type: policy.TypeFile})
		}
		b.push(p, masked)
	default:
		b.pin(p)
		b.emit(Mount{Op: Tmpfs, Path: p, Size: b.tmpSize()})
		b.push(p, private)
	}
}

func (b *builder) tmpSize() int64 {
	if n := b.effective.Limits.Tmp; n > 0 {
		return n
	}
	return DefaultTmp
}

// hide masks a place of the host. Where nothing of the host shows, hidden is
// what it is anyway.
func (b *builder) hide(entry policy.Entry) error {
	s := b.top().state
	if s != hostRead && s != hostWrite {
		b.keep(entry.Path)
		return nil
	}
	switch entry.Type {
	case policy.TypeMissing:
		if s == hostWrite {
			b.layout.Absent = append(b.layout.Absent, entry)
		}
		b.keep(entry.Path)
		return nil
	case policy.TypeDir:
		b.pin(entry.Path)
		b.emit(Mount{Op: MaskDir, Path: entry.Path, Type: entry.Type})
	case policy.TypeFile, policy.TypeSocket:
		b.pin(entry.Path)
		b.emit(Mount{Op: MaskFile, Path: entry.Path, Type: entry.Type})
	default:
		return fmt.Errorf("cannot look at %s, so it cannot be hidden safely", entry.Path)
	}
	b.push(entry.Path, masked)
	return nil
}

// show binds a place of the host, unless the surroundings show it with the
// same access.
func (b *builder) show(entry policy.Entry) {
	want := hostRead
	if entry.Access.Has(policy.Write) {
		want = hostWrite
	}
	if want == hostWrite && !entry.Access.Has(policy.Read) {
		b.layout.WriteOnly = append(b.layout.WriteOnly, entry.Path)
	}
	if entry.Access == policy.None || entry.Type == policy.TypeMissing {
		b.showNothing(entry, want)
		return
	}
	if b.top().state == want {
		b.keep(entry.Path)
		return
	}
	b.pin(entry.Path)
	b.emit(Mount{Op: bindOp(entry, b.top().state), Path: entry.Path, Type: entry.Type})
	b.push(entry.Path, want)
}

// showNothing handles places without a file to show. One that is to be
// created later works where its surroundings are writable already.
func (b *builder) showNothing(entry policy.Entry, want state) {
	if b.top().state == hostWrite && want == hostRead {
		b.layout.Absent = append(b.layout.Absent, entry)
	}
	b.keep(entry.Path)
}

func bindOp(entry policy.Entry, around state) Op {
	switch {
	case entry.Access.Has(policy.Write):
		return Bind
	case entry.Kind == policy.System && entry.Type == policy.TypeFile && around == skeleton:
		return Copy
	}
	return ROBind
}

// pin makes mount points of the directories between a narrower place and the
// writable mount around it.
func (b *builder) pin(p string) {
	top := b.top()
	if top.state != hostWrite {
		return
	}
	var chain []string
	for dir := path.Dir(p); dir != top.mount && dir != "/"; dir = path.Dir(dir) {
		if b.pinned[dir] {
			break
		}
		chain = append(chain, dir)
	}
	slices.Reverse(chain)
	for _, dir := range chain {
		b.pinned[dir] = true
		b.emit(Mount{Op: Pin, Path: dir, Type: policy.TypeDir})
	}
}

// pinLink makes a mount point of a link and of the directories that lead to
// it, where the command could take it away.
func (b *builder) pinLink(t policy.Trigger) {
	b.enter(t.Path)
	if b.top().state == hostWrite && !b.effective.Area.Lists(t.Path) {
		b.pin(t.Path)
		b.emit(Mount{Op: PinLink, Path: t.Path, Target: t.Link, Type: policy.TypeFile})
	}
}

// addLinks puts back the links that lie outside of all binds, before the
// first mount below them could claim their names.
func (b *builder) addLinks(links []policy.Link) {
	var made []Mount
	for _, l := range links {
		if entry := b.effective.Area.At(l.Path); entry.Kind == policy.Hidden || entry.Kind == policy.Private {
			made = append(made, Mount{Op: Symlink, Path: l.Path, Target: l.Target})
		}
	}
	slices.SortFunc(made, func(a, c Mount) int { return strings.Compare(a.Path, c.Path) })
	b.layout.Mounts = append(b.layout.Mounts, slices.Compact(made)...)
}
