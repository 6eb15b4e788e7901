package landlock

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// probe is one action. Without Landlock it must succeed; under the test ruleset it
// answers want, or succeeds where the kernel's plan names gap.
type probe struct {
	name string
	want syscall.Errno // 0: works
	gap  GapName       // the gap that leaves the action open
	do   func(world) error
}

var probeLists = map[string][]probe{
	"files":    append(append(append(readProbes, writeProbes...), moveProbes...), dropProbes...),
	"gaps":     gapProbes,
	"outside":  outsideProbes,
	"terminal": {{name: "pty", do: func(world) error { return terminalRequest() }}},
}

// runProbes reports the errno of each probe by name, 0 for success.
func runProbes(list []probe, w world) map[string]int {
	results := map[string]int{}
	for _, p := range list {
		results[p.name] = errnoOf(p.do(w))
	}
	return results
}

func errnoOf(err error) int {
	var errno syscall.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &errno):
		return int(errno)
	}
	return -1
}

// at makes an action on one file of the tree.
func at(name string, do func(path string) error) func(world) error {
	return func(w world) error { return do(filepath.Join(w.Tree, name)) }
}

// between makes an action on two.
func between(from, to string, do func(from, to string) error) func(world) error {
	return func(w world) error { return do(filepath.Join(w.Tree, from), filepath.Join(w.Tree, to)) }
}

func open(flags int) func(string) error {
	return func(path string) error {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o644)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	}
}

func list(path string) error {
	_, err := os.ReadDir(path)
	return err
}

func run(path string) error { return exec.Command(path).Run() }

func mkdir(path string) error { return unix.Mkdir(path, 0o755) }

func symlink(path string) error { return unix.Symlink("target", path) }

func cut(path string) error { return unix.Truncate(path, 1) }

func mknod(kind uint32) func(string) error {
	return func(path string) error { return unix.Mknod(path, kind|0o644, 0) }
}

const creating = unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY

var readProbes = []probe{
	{name: "read granted", do: at("ro/file", open(unix.O_RDONLY))},
	{name: "list granted", do: at("ro", list)},
	{name: "execute granted", do: at("ro/"+program, run)},
	{name: "read rw", do: at("rw/sub/file", open(unix.O_RDWR))},
	{name: "read single file", do: at("single/file", open(unix.O_RDWR))},
	{name: "read outside", want: unix.EACCES, do: at("out/file", open(unix.O_RDONLY))},
	{name: "list outside", want: unix.EACCES, do: at("out", list)},
	{name: "execute outside", want: unix.EACCES, do: at("out/"+program, run)},
	{name: "read through dots", want: unix.EACCES, do: at("ro/../out/file", open(unix.O_RDONLY))},
	{name: "read through a link in a granted directory", want: unix.EACCES, do: at("rw/link/file", open(unix.O_RDONLY))},
	{name: "read through proc", want: unix.EACCES, do: func(w world) error {
		return open(unix.O_RDONLY)("/proc/self/root" + w.Tree + "/out/file")
	}},
	{name: "read beside a single file", want: unix.EACCES, do: at("single/beside", open(unix.O_RDONLY))},
	{name: "list around a single file", want: unix.EACCES, do: at("single", list)},
}

var writeProbes = []probe{
	{name: "create", do: at("rw/new", open(creating))},
	{name: "create a directory", do: at("rw/newdir", mkdir)},
	{name: "create a symlink", do: at("rw/newlink", symlink)},
	{name: "create a fifo", do: at("rw/newfifo", mknod(unix.S_IFIFO))},
	{name: "create a socket", do: at("rw/newsocket", mknod(unix.S_IFSOCK))},
	{name: "create a device", want: unix.EACCES, do: at("rw/newdevice", mknod(unix.S_IFCHR))},
	{name: "truncate", do: at("rw/file", cut)},
	{name: "remove", do: at("rw/new", unix.Unlink)},
	{name: "remove a directory", do: at("rw/newdir", unix.Rmdir)},
	{name: "write single file", do: at("single/file", open(unix.O_WRONLY|unix.O_TRUNC))},
	{name: "truncate single file", do: at("single/file", cut)},
	{name: "remove single file", want: unix.EACCES, do: at("single/file", unix.Unlink)},
	{name: "create beside a single file", want: unix.EACCES, do: at("single/new", open(creating))},

	{name: "write read-only", want: unix.EACCES, do: at("ro/file", open(unix.O_WRONLY))},
	{name: "append read-only", want: unix.EACCES, do: at("ro/file", open(unix.O_WRONLY|unix.O_APPEND))},
	{name: "truncate read-only", want: unix.EACCES, gap: GapTruncate, do: at("ro/file", cut)},
	{name: "open read-only to truncate", want: unix.EACCES, gap: GapTruncate, do: at("ro/file", open(unix.O_RDONLY|unix.O_TRUNC))},
	{name: "create in read-only", want: unix.EACCES, do: at("ro/new", open(creating))},
	{name: "create a directory in read-only", want: unix.EACCES, do: at("ro/newdir", mkdir)},
	{name: "create a symlink in read-only", want: unix.EACCES, do: at("ro/newlink", symlink)},
	{name: "remove a directory in read-only", want: unix.EACCES, do: at("ro/sub", unix.Rmdir)},

	{name: "write outside", want: unix.EACCES, do: at("out/file", open(unix.O_WRONLY))},
	{name: "truncate outside", want: unix.EACCES, gap: GapTruncate, do: at("out/file", cut)},
	{name: "create outside", want: unix.EACCES, do: at("out/new", open(creating))},
	{name: "create a directory outside", want: unix.EACCES, do: at("out/newdir", mkdir)},
	{name: "create a fifo outside", want: unix.EACCES, do: at("out/newfifo", mknod(unix.S_IFIFO))},
	{name: "create through a link", want: unix.EACCES, do: at("rw/link/new2", open(creating))},
	{name: "create outside without a name", want: unix.EACCES, do: at("out", open(unix.O_TMPFILE|unix.O_WRONLY))},
	{name: "remove a directory outside", want: unix.EACCES, do: at("out/sub", unix.Rmdir)},
}

// moveProbes leave their files where they were.
var moveProbes = []probe{
	{name: "rename within a directory", do: there("rw/file", "rw/renamed")},
	{name: "rename between directories", do: there("rw/sub/file", "rw/other/file")},
	{name: "link between directories", do: between("rw/sub/file", "rw/other/link", linked)},
	{name: "rename out of the grant", want: unix.EACCES, do: there("rw/sub/file", "out/moved")},
	{name: "rename into the grant", want: unix.EACCES, do: there("out/file", "rw/moved")},
	{name: "rename within outside", want: unix.EACCES, do: there("out/file", "out/moved")},
	{name: "link into the grant", want: unix.EXDEV, do: between("out/file", "rw/linked", linked)},
	{name: "link read-only into writable", want: unix.EXDEV, do: between("ro/file", "rw/linked", linked)},
	{name: "rename read-only into writable", want: unix.EACCES, do: there("ro/file", "rw/moved")},
	{name: "exchange with outside", want: unix.EACCES, do: between("rw/file", "out/file", func(a, b string) error {
		err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
		if err == nil {
			err = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
		}
		return err
	})},
}

// there moves a file and, if that works, back again.
func there(from, to string) func(world) error {
	return between(from, to, func(from, to string) error {
		if err := unix.Rename(from, to); err != nil {
			return err
		}
		return unix.Rename(to, from)
	})
}

func linked(from, to string) error {
	if err := unix.Link(from, to); err != nil {
		return err
	}
	return unix.Unlink(to)
}

var dropProbes = []probe{
	{name: "drop: create", do: at("drop/new", open(creating))},
	{name: "drop: append", do: at("drop/new", open(unix.O_WRONLY|unix.O_APPEND))},
	{name: "drop: overwrite", do: at("drop/new", open(unix.O_WRONLY|unix.O_TRUNC))},
	{name: "drop: make a directory", do: at("drop/dir", mkdir)},
	{name: "drop: rename inside", do: there("drop/new", "drop/dir/new")},
	{name: "drop: move in", do: between("rw/file", "drop/moved", func(from, to string) error {
		if err := unix.Link(from, to); err != nil {
			return err
		}
		return unix.Unlink(to)
	})},
	{name: "drop: read own file", want: unix.EACCES, do: at("drop/new", open(unix.O_RDONLY))},
	{name: "drop: read", want: unix.EACCES, do: at("drop/file", open(unix.O_RDONLY))},
	{name: "drop: read and write", want: unix.EACCES, do: at("drop/file", open(unix.O_RDWR))},
	{name: "drop: create to read", want: unix.EACCES, do: at("drop/new2", open(unix.O_CREAT|unix.O_RDWR))},
	{name: "drop: list", want: unix.EACCES, do: at("drop", list)},
	{name: "drop: move out to read", want: unix.EXDEV, do: there("drop/file", "rw/stolen")},
	{name: "drop: link out to read", want: unix.EXDEV, do: between("drop/second", "rw/stolen", linked)},
	{name: "drop: remove", do: at("drop/new", unix.Unlink)},
}

// gapProbes work in spite of the ruleset, which is what the gaps say.
var gapProbes = []probe{
	{name: "chmod outside", gap: GapChmod, want: unix.EACCES, do: at("out/file", func(p string) error { return unix.Chmod(p, 0o600) })},
	{name: "chown outside", gap: GapChown, want: unix.EACCES, do: at("out/file", func(p string) error {
		return unix.Chown(p, os.Geteuid(), os.Getegid())
	})},
	{name: "utime outside", gap: GapUtime, want: unix.EACCES, do: at("out/file", func(p string) error {
		return unix.Utimes(p, make([]unix.Timeval, 2))
	})},
	{name: "xattr outside", gap: GapXattr, want: unix.EACCES, do: at("out/file", func(p string) error {
		err := unix.Setxattr(p, "user.sbx", []byte("x"), 0)
		if errors.Is(err, unix.EOPNOTSUPP) { // the file system has none: the call came that far
			return nil
		}
		return err
	})},
	{name: "stat outside", gap: GapStat, want: unix.EACCES, do: at("out/file", func(p string) error { return unix.Stat(p, &unix.Stat_t{}) })},
}
