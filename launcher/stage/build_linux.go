package stage

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/nofollow"
)

// building is the trees while they are built, all below one directory of the
// builder's namespace: a mount can only be put into a tree that is attached
// somewhere (before Linux 6.15).
type building struct {
	scratch int            // mount of our own, with all that follows in it
	tree    int            // what stands for the sandbox's root
	masks   int            // read-only, with an empty directory "d" and an empty file "f"
	memory  map[string]int // roots of the tmpfs mounts by their path
	made    map[string]bool
}

// harmless is what every mount of a sandbox has.
const harmless = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

// cloned asks open_tree for a copy of a mount, attached nowhere.
const cloned = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC

// newBuilding tries everything that a kernel or a filter may refuse, so that a
// refusal is known before bubblewrap is started.
func newBuilding(o Orders) (b *building, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, err
	}
	b = &building{memory: map[string]int{}, made: map[string]bool{}}
	root := -1
	if o.Root != (Identity{}) { // before anything of ours is mounted below it
		if root, err = show("/", o.Root, 0); err != nil {
			return nil, err
		}
	}
	if b.scratch, err = newTmpfs(0); err != nil {
		return nil, err
	}
	if err := attachToFirst(b.scratch, o.Points); err != nil {
		return nil, err
	}
	for _, name := range []string{"tree", "masks"} {
		if err := unix.Mkdirat(b.scratch, name, 0o755); err != nil {
			return nil, err
		}
	}
	if root >= 0 {
		if err := unix.MoveMount(root, "", b.scratch, "tree", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return nil, err
		}
	}
	if b.tree, err = find(b.scratch, "tree"); err != nil {
		return nil, err
	}
	b.memory["/"] = b.tree
	if err := b.addMasks(); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(o.Steps, func(s Step) bool { return s.Op == PinLink }) {
		return b, b.tryPin()
	}
	return b, nil
}

// attachToFirst attaches a mount to the first directory of a list that is
// there.
func attachToFirst(mount int, points []string) error {
	err := errors.New("every place to build in is shown by the policy")
	for _, p := range points {
		var at int
		if at, err = nofollow.Open(p); err != nil {
			continue
		}
		err = put(mount, at)
		_ = unix.Close(at)
		if err == nil {
			return nil
		}
	}
	return err
}

func (b *building) addMasks() (err error) {
	if b.masks, err = newTmpfs(0); err != nil {
		return err
	}
	if err := unix.Mkdirat(b.masks, "d", 0o555); err != nil {
		return err
	}
	if err := makeFile(b.masks, "f"); err != nil {
		return err
	}
	if err := unix.MountSetattr(b.masks, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return err
	}
	if err := unix.MoveMount(b.masks, "", b.scratch, "masks", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return err
	}
	trial, err := unix.OpenTree(b.masks, "d", cloned)
	if err != nil {
		return err
	}
	return unix.Close(trial)
}

// do carries one step out.
func (b *building) do(s Step) error {
	switch s.Op {
	case Copy:
		return b.copyFile(s)
	case Symlink:
		dir, name, err := b.parent(s)
		if err != nil {
			return err
		}
		return unix.Symlinkat(s.Target, dir, name)
	}
	mount, err := b.mountFor(s)
	if err != nil {
		return err
	}
	if s.Op == Tmpfs {
		b.memory[s.Path] = mount // kept: what lies in it is found by it
	} else {
		defer unix.Close(mount)
	}
	at, err := b.place(s)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	return put(mount, at)
}

// put attaches a mount at an open place.
func put(mount, at int) error {
	return unix.MoveMount(mount, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// mountFor makes the mount of a step, attached nowhere.
func (b *building) mountFor(s Step) (int, error) {
	switch s.Op {
	case ShowRO:
		return show(s.Path, s.Shown, unix.MOUNT_ATTR_RDONLY)
	case ShowRW:
		return show(s.Path, s.Shown, 0)
	case PinLink:
		return showLink(s)
	case Tmpfs:
		return newTmpfs(s.Size)
	case MaskDir:
		return unix.OpenTree(b.masks, "d", cloned)
	case MaskFile:
		return unix.OpenTree(b.masks, "f", cloned)
	}
	return -1, errOrders
}

// ErrChanged says that a path does not lead to what the launcher has seen.
var ErrChanged = errors.New("it changed while sbx was starting")

// show copies the mounts at a path of the host, if that still is the file
// that the launcher has seen there.
func show(p string, want Identity, flags uint64) (int, error) {
	at, err := nofollow.Open(p)
	if err != nil {
		return -1, err
	}
	defer unix.Close(at)
	got, _, err := Identify(at)
	if err != nil {
		return -1, err
	}
	if got != want {
		return -1, ErrChanged
	}
	mount, err := unix.OpenTree(at, "", cloned|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return -1, err
	}
	err = unix.MountSetattr(mount, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: harmless | flags})
	if err != nil {
		_ = unix.Close(mount)
		return -1, err
	}
	return mount, nil
}

// newTmpfs makes a tmpfs of some bytes, attached nowhere.
func newTmpfs(size int64) (int, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	if err := unix.FsconfigSetString(fs, "mode", "0755"); err != nil {
		return -1, err
	}
	if size > 0 {
		if err := unix.FsconfigSetString(fs, "size", strconv.FormatInt(size, 10)); err != nil {
			return -1, err
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, harmless)
}

// place opens the mount point of a step, made if it is to lie in memory.
func (b *building) place(s Step) (int, error) {
	switch {
	case s.Op == PinLink:
		return findAny(b.tree, s.Path[1:])
	case s.In == "":
		return find(b.tree, s.Path[1:])
	}
	dir, name, err := b.parent(s)
	if err != nil {
		return -1, err
	}
	if s.Dir {
		err = unix.Mkdirat(dir, name, 0o755)
	} else {
		err = makeFile(dir, name)
	}
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return -1, err
	}
	return find(dir, name)
}

// parent makes the directories that lead to a step's place in memory. Names
// are relative to the tmpfs that they are in: nothing on the way is the
// host's, so nobody else can move anything there.
func (b *building) parent(s Step) (dir int, name string, err error) {
	dir, known := b.memory[s.In]
	if !known {
		return -1, "", errOrders
	}
	rest := strings.TrimPrefix(s.Path[len(s.In):], "/")
	parent := path.Dir(rest)
	if parent == "." || b.made[s.In+"\x00"+parent] {
		return dir, rest, nil
	}
	for i, c := range parent + "/" {
		if c != '/' {
			continue
		}
		if err := unix.Mkdirat(dir, parent[:i], 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			return -1, "", err
		}
	}
	b.made[s.In+"\x00"+parent] = true
	return dir, rest, nil
}

// find opens a path below an open directory, following no link.
func find(dir int, name string) (int, error) { return lookUp(dir, name, 0) }

// findAny is find, but opens a link at the end itself.
func findAny(dir int, name string) (int, error) { return lookUp(dir, name, unix.O_NOFOLLOW) }

func lookUp(dir int, name string, flags uint64) (int, error) {
	return unix.Openat2(dir, name, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC | flags,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
}

func (b *building) copyFile(s Step) error {
	content, err := readAll(firstSource + s.Source)
	if err != nil {
		return err
	}
	dir, name, err := b.parent(s)
	if err != nil {
		return err
	}
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o444)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for len(content) > 0 {
		n, err := unix.Write(fd, content)
		if err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}

func makeFile(dir int, name string) error {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o444)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}
