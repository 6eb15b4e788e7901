//go:build unix

package files

import (
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/policy"
)

// Files does the I/O of one sandbox. It is immutable and safe for concurrent
// use.
type Files struct {
	sandbox policy.Sandbox
	view    policy.Effective
}

// New returns the tools of a sandbox. Where deny patterns may match links,
// give it the sandbox that Sandbox.Expand returns: only that one knows where
// they lead.
func New(s policy.Sandbox) Files { return Files{sandbox: s, view: s.Effective()} }

// attempts is how often an operation starts over because the tree changes
// under it.
const attempts = 8

// place is a canonical host path that the sandbox allows an operation on,
// with its directory opened.
type place struct {
	asked string
	host  string
	name  string // in dir
	dir   dir
	mount policy.Mount
}

// locate decides about the sandbox path p and opens the directory that holds
// what it leads to. It starts over where a link turns up on the way.
func (f Files) locate(op policy.Access, p string) (place, error) {
	for range attempts {
		r, err := f.sandbox.Locate(op, p)
		if err != nil {
			return place{}, err
		}
		parent, name := split(r.Path)
		mount, _ := f.view.MountOf(r.Path)
		d, err := openDir(parent, mount.Root)
		switch {
		case err == nil:
			return place{asked: p, host: r.Path, name: name, dir: d, mount: mount}, nil
		case !changedOnTheWay(err):
			return place{asked: p, host: r.Path, name: name, mount: mount}, f.failed(op, p, r.Path, err)
		}
	}
	return place{}, &ChangedError{Op: op, Path: p}
}

// failed words an error of the operating system.
func (f Files) failed(op policy.Access, asked, host string, err error) error {
	var errno unix.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &NotFoundError{Op: op, Path: asked, Near: f.near(asked, host)}
	case changedOnTheWay(err):
		return &ChangedError{Op: op, Path: asked}
	case errors.As(err, &errno):
		return &IOError{Op: op, Path: asked, Err: errno}
	}
	return &IOError{Op: op, Path: asked, Err: errors.New("input/output error")}
}

// checkSuffix refuses a name that the mount's suffixes exclude.
func (p place) checkSuffix() error {
	if !p.mount.AllowsSuffix(p.host) {
		return &policy.SuffixNotAllowedError{Path: p.asked, Allowed: p.mount.Suffixes}
	}
	return nil
}

// checkSize refuses a size that the mount excludes.
func (p place) checkSize(bytes int64) error {
	if !p.mount.AllowsSize(bytes) {
		return &policy.FileTooLargeError{Path: p.asked, Size: bytes, Limit: p.mount.MaxFileBytes}
	}
	return nil
}

// namesDirectory reports whether p can only be meant as a directory.
func namesDirectory(p string) bool {
	return strings.HasSuffix(p, "/") || strings.HasSuffix(p, `\`) || p == "." || strings.HasSuffix(p, "/.")
}
