package stage

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The descriptors of the builder; the files given to Start follow.
const (
	socketFD = 3 + iota
	ordersFD
	firstSource
)

// As the stub, the builder begins before the rest of the program is set up.
func init() {
	if len(os.Args) == 2 && os.Args[1] == Arg {
		runtime.LockOSThread()
		os.Exit(run())
	}
}

// The records on the socket, by their first byte.
const (
	ready  = 'r' // the kernel lets us build; the rest is work
	trees  = 't' // with descriptors of the next trees
	failed = 'e' // instead; then path, error number and text with NULs between
)

func run() int {
	err := build()
	if err == nil {
		return 0
	}
	f := &Failure{Text: err.Error()}
	errors.As(err, &f)
	record := strings.Join([]string{f.Path, strconv.Itoa(int(f.Errno)), f.Text}, "\x00")
	_ = unix.Sendto(socketFD, append([]byte{failed}, record...), unix.MSG_NOSIGNAL, nil) // nobody left to tell if it fails
	return 1
}

// Failure is why there are no trees.
type Failure struct {
	Path  string // mount concerned; may be empty
	Errno unix.Errno
	Text  string
}

func (f *Failure) Error() string {
	if f.Path != "" {
		return f.Path + ": " + f.Text
	}
	return f.Text
}

// fail adds the path to an error; nil stays nil.
func fail(path string, err error) error {
	if err == nil {
		return nil
	}
	f := &Failure{Path: path, Text: err.Error()}
	errors.As(err, &f.Errno)
	return f
}

// build does all the work of a builder.
func build() error {
	unix.Umask(0)
	content, err := readAll(ordersFD)
	if err != nil {
		return err
	}
	o, err := decode(content)
	if err != nil {
		return err
	}
	b, err := newBuilding(o)
	if err != nil {
		return err
	}
	if _, err := unix.Write(socketFD, []byte{ready}); err != nil {
		return err
	}
	for _, s := range o.Steps {
		if err := b.do(s); err != nil {
			return fail(s.Path, err)
		}
	}
	return b.deliver(o.Sites)
}

// readAll reads a file that is shared with others, without its offset.
func readAll(fd int) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	content := make([]byte, 0, st.Size+1) // files of /proc say 0
	for {
		if len(content) == cap(content) {
			content = append(content, 0)[:len(content)]
		}
		n, err := unix.Pread(fd, content[len(content):cap(content)], int64(len(content)))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return content, err
		}
		content = content[:len(content)+n]
	}
}

// batch is how many descriptors go with one record; the kernel's limit is 253.
const batch = 250

// deliver sends a detached copy of each tree. The bare directories of the
// trees are read-only from here on.
func (b *building) deliver(sites []string) error {
	if err := unix.MountSetattr(b.scratch, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return err
	}
	for len(sites) > 0 {
		n := min(len(sites), batch)
		fds := make([]int, n)
		for i, site := range sites[:n] {
			at, err := findAny(b.tree, site[1:])
			if err != nil {
				return fail(site, err)
			}
			fds[i], err = unix.OpenTree(at, "", cloned|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
			if err != nil {
				return fail(site, err)
			}
			_ = unix.Close(at)
		}
		if err := unix.Sendmsg(socketFD, []byte{trees}, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL); err != nil {
			return err
		}
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
		sites = sites[n:]
	}
	return nil
}
