//go:build unix

package files

import (
	"errors"

	"golang.org/x/sys/unix"
)

// madeDir is a directory that a write has made, with the one that holds it.
type madeDir struct {
	parent dir
	name   string
}

// madeDirs are the directories of one write, outermost first.
type madeDirs []madeDir

// remove takes back what was made, as far as it is empty.
func (m madeDirs) remove() {
	for i := range m {
		d := m[len(m)-1-i]
		_ = unix.Unlinkat(d.parent.fd, d.name, unix.AT_REMOVEDIR)
	}
	m.close()
}

func (m madeDirs) close() {
	for _, d := range m {
		d.parent.close()
	}
}

// makeDir opens the directory at a canonical host path. Those that are missing
// it makes, if the sandbox may write at each. made is valid with an error too.
func (f Files) makeDir(host, trusted string) (d dir, made madeDirs, err error) {
	d, err = openDir(host, trusted)
	if !errors.Is(err, unix.ENOENT) || !f.view.CanWrite(host) {
		return d, nil, err
	}
	above, name := split(host)
	parent, made, err := f.makeDir(above, trusted)
	if err != nil {
		return dir{}, made, err
	}
	switch err = unix.Mkdirat(parent.fd, name, 0o777); {
	case err == nil:
		made = append(made, madeDir{parent, name})
	case errors.Is(err, unix.EEXIST):
		defer parent.close()
	default:
		parent.close()
		return dir{}, made, err
	}
	d, err = parent.sub(name, true)
	return d, made, err
}
