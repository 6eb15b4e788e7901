package launcher

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/policy"
)

// records is sbx's directory of placeholders: one small file for each, by
// which the next run finds what a killed one has left. No sandbox shows it.
// Runs of one user change it one at a time.
type records struct{ dir *os.File }

// record is the content of a file. Without an inode it was written just
// before its placeholder was to be made.
type record struct {
	Path    []byte // paths need not be UTF-8
	Dev     uint64 `json:",omitempty"`
	Ino     uint64 `json:",omitempty"`
	File    bool   `json:",omitempty"`
	Content string `json:",omitempty"`
}

// openRecords opens the directory "placeholders" in sbx's state directory,
// and makes both if wanted. A link, or a directory that others can write to,
// is refused: whoever places records there chooses what the next run removes.
func openRecords(state string, create bool) (*records, error) {
	if state == "" {
		return nil, errors.New("there is no home to keep records in")
	}
	if create {
		if err := os.MkdirAll(path.Dir(state), 0o700); err != nil {
			return nil, err
		}
	}
	fd, err := unix.Open(path.Dir(state), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) // os.Open would set the runtime's poller up
	if err != nil {
		return nil, err
	}
	above := os.NewFile(uintptr(fd), path.Dir(state))
	defer above.Close()
	own, err := openOwn(above, path.Base(state), create)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	dir, err := openOwn(own, "placeholders", create)
	if err != nil {
		return nil, err
	}
	return &records{dir}, nil
}

// openOwn opens a directory that belongs to this user and that nobody else
// can write to.
func openOwn(above *os.File, name string, create bool) (*os.File, error) {
	at := int(above.Fd())
	if create {
		if err := unix.Mkdirat(at, name, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
			return nil, err
		}
	}
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		f.Close()
		return nil, err
	}
	if int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		f.Close()
		return nil, fmt.Errorf("%s does not belong to this user alone", name)
	}
	return f, nil
}

func (r *records) close() { r.dir.Close() }

// serialise waits until no other run of this user makes or removes
// placeholders, and returns the end of that. Without the lock it goes on: the
// locks on the placeholders themselves still hold.
func (r *records) serialise() (done func()) {
	for {
		if err := unix.Flock(int(r.dir.Fd()), unix.LOCK_EX); err != unix.EINTR {
			break
		}
	}
	return func() { _ = unix.Flock(int(r.dir.Fd()), unix.LOCK_UN) }
}

func recordName(p string) string {
	sum := sha256.Sum256([]byte(p))
	return hex.EncodeToString(sum[:16])
}

// announce writes down that a placeholder is about to be made, and reports
// whether that was not known already.
func (r *records) announce(p policy.Placeholder) (bool, error) {
	_, err := r.read(recordName(p.Path))
	if err == nil {
		return false, nil
	}
	return true, r.write(p, inode{})
}

// write replaces a record at once, so that none is ever half there.
func (r *records) write(p policy.Placeholder, is inode) error {
	body, err := json.Marshal(record{Path: []byte(p.Path), Dev: is.dev, Ino: is.ino, File: p.Type != policy.TypeDir, Content: p.Content})
	if err != nil {
		return err
	}
	at, name := int(r.dir.Fd()), recordName(p.Path)
	fd, err := unix.Openat(at, "new", unix.O_CREAT|unix.O_TRUNC|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "new")
	_, err = f.Write(body)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return unix.Renameat(at, "new", at, name)
}

const maxRecordSize = 1 << 16

func (r *records) read(name string) (record, error) {
	fd, err := unix.Openat(int(r.dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return record{}, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, maxRecordSize))
	if err != nil {
		return record{}, err
	}
	var found record
	err = json.Unmarshal(body, &found)
	return found, err
}

// holds reports whether the record of a path names this very inode.
func (r *records) holds(p string, is inode) bool {
	found, err := r.read(recordName(p))
	return err == nil && string(found.Path) == p && inode{found.Dev, found.Ino} == is
}

func (r *records) remove(p string) { r.removeNamed(recordName(p)) }

func (r *records) removeNamed(name string) { _ = unix.Unlinkat(int(r.dir.Fd()), name, 0) }

// ReclaimPlaceholders removes what killed runs have left on the host: every
// recorded placeholder that nobody holds and that is as sbx made it. state is
// sbx's state directory. What it cannot look at stays for a later run.
func ReclaimPlaceholders(state string) {
	r, err := openRecords(state, false)
	if err != nil {
		return // nothing was ever recorded, or not by us
	}
	defer r.close()
	names, err := r.dir.Readdirnames(-1)
	if err != nil || len(names) == 0 {
		return
	}
	defer r.serialise()()
	type left struct {
		name string
		record
	}
	var all []left
	for _, name := range names {
		found, err := r.read(name)
		if err != nil || name != recordName(string(found.Path)) || !policy.IsHostPath(string(found.Path)) {
			r.removeNamed(name)
			continue
		}
		all = append(all, left{name, found})
	}
	slices.SortFunc(all, func(a, b left) int { return policy.ComparePaths(string(b.Path), string(a.Path)) })
	for _, one := range all {
		if one.reclaim() {
			r.removeNamed(one.name)
		}
	}
}

// reclaim removes one placeholder and reports whether its record has served.
func (rec record) reclaim() bool {
	p := placeholder{Placeholder: policy.Placeholder{Path: string(rec.Path), Type: policy.TypeDir}}
	if rec.File {
		p.Type, p.Content = policy.TypeFile, rec.Content
	}
	var err error
	if p.dir, err = openDirectory(path.Dir(p.Path)); err != nil {
		return isGone(err)
	}
	defer p.dir.Close()
	if p.file, err = p.open(); err != nil {
		return isGone(err)
	}
	defer p.file.Close()
	if rec.Ino != 0 && inodeOf(p.file) != (inode{rec.Dev, rec.Ino}) {
		return true
	}
	return p.removeUnused()
}

// isGone reports whether a name leads to nothing that sbx has made: nothing at
// all, or something else.
func isGone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}
