package policy

import (
	"errors"
	"io/fs"
	"syscall"
)

// Queryer answers the questions that a tool asks before it acts. Paths are
// sandbox paths. Tools depend on it instead of on Sandbox, so that a fake can
// stand in. The answers hold for the moment: the kernel enforces, and a tool
// that opens files checks again what it has opened.
type Queryer interface {
	// CanRead reports whether path leads to a readable place.
	CanRead(path string) bool
	// CanWrite reports whether path leads to a writable place.
	CanWrite(path string) bool
	// Resolve returns the canonical host path of a place that may be read or
	// written.
	Resolve(path string) (string, error)
	// CheckSuffix returns a *SuffixNotAllowedError where the tools must leave
	// the file alone because of its name.
	CheckSuffix(path string) error
	// CheckSize returns a *FileTooLargeError where they must because of its
	// size.
	CheckSize(path string) error
	// ReadableRoots returns the sandbox paths at which reading begins.
	ReadableRoots() []string
	// WritableRoots returns the sandbox paths at which writing begins.
	WritableRoots() []string
	// NetworkEnabled reports whether any host can be reached.
	NetworkEnabled() bool
}

var _ Queryer = Sandbox{}

// CanRead reports whether the sandbox path p leads to a readable place.
func (s Sandbox) CanRead(p string) bool {
	_, err := s.Locate(Read, p)
	return err == nil
}

// CanWrite reports whether the sandbox path p leads to a writable place.
func (s Sandbox) CanWrite(p string) bool {
	_, err := s.Locate(Write, p)
	return err == nil
}

// Resolve returns the canonical host path that the sandbox path p leads to, if
// the sandbox has any access there. The file need not exist.
func (s Sandbox) Resolve(p string) (string, error) {
	r, err := s.Locate(None, p)
	return r.Path, err
}

// Locate resolves the sandbox path p and decides whether op is allowed there;
// None asks for any access. It fails with a *PathNotInSandboxError, a
// *PathNotWritableError, or an *InvalidPathError for what is no path.
func (s Sandbox) Locate(op Access, p string) (Resolution, error) {
	host, err := s.hostPath(p)
	if err != nil {
		return Resolution{}, s.refusal(op, p, err)
	}
	e := s.Effective()
	r, d, err := e.Look(op, host)
	if err != nil {
		return Resolution{}, s.refusal(op, p, err)
	}
	switch {
	case d.Allowed, op == None && d.Entry.Access != None:
		return r, nil
	case op == Write && d.Entry.Access.Has(Read):
		return Resolution{}, &PathNotWritableError{Path: p, Writable: s.boundary(Write)}
	}
	return Resolution{}, s.refusal(op, p, errOutside)
}

// ReadableBelow returns the canonical host path that the sandbox path p leads
// to, and the host paths at and below it at which reading begins, sorted. It
// fails like Locate where there are none.
func (s Sandbox) ReadableBelow(p string) (host string, roots []string, err error) {
	host, err = s.hostPath(p)
	if err != nil {
		return "", nil, s.refusal(Read, p, err)
	}
	r, d, err := s.Effective().Look(Read, host)
	switch {
	case err != nil:
		return "", nil, s.refusal(Read, p, err)
	case d.refusal == byTheWay:
		return "", nil, s.refusal(Read, p, errOutside)
	case d.Allowed:
		roots = []string{r.Path}
	}
	for _, root := range s.area.Roots(Read) {
		if root != r.Path && Contains(r.Path, root) {
			roots = append(roots, root)
		}
	}
	if len(roots) == 0 {
		return "", nil, s.refusal(Read, p, errOutside)
	}
	return r.Path, roots, nil
}

// refusal words why there is no answer for p.
func (s Sandbox) refusal(op Access, p string, err error) error {
	host, meantHost := err.(hostPathProblem)
	if err != errOutside && !meantHost {
		return &InvalidPathError{Op: op, Path: p, Problem: problemOf(err)}
	}
	want := Read
	if op == Write {
		want = Write
	}
	return &PathNotInSandboxError{Op: op, Path: p, Boundary: s.boundary(want), Inside: host.inside}
}

// problemOf words the errors of Resolve without the host path in them.
func problemOf(err error) string {
	var pe *fs.PathError
	switch {
	case errors.Is(err, syscall.ELOOP):
		return "too many levels of symbolic links"
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of the path is a file, not a directory"
	case errors.Is(err, fs.ErrNotExist):
		return "a part of the path does not exist"
	case errors.As(err, &pe):
		return pe.Err.Error()
	}
	return err.Error()
}

// boundary lists the roots with the access for a refusal.
func (s Sandbox) boundary(want Access) []string {
	return boundary(s.area, s.spec.Mounts, want, asAskable)
}

// CheckSuffix returns a *SuffixNotAllowedError where the name of the file that
// p leads to has none of the suffixes that its mount allows.
func (s Sandbox) CheckSuffix(p string) error {
	r, err := s.Locate(None, p)
	if err != nil {
		return err
	}
	if m, ok := mountOf(r.Path, s.spec.Mounts); ok && !m.AllowsSuffix(r.Path) {
		return &SuffixNotAllowedError{Path: p, Allowed: m.Suffixes}
	}
	return nil
}

// CheckSize returns a *FileTooLargeError where the file that p leads to is
// larger now than its mount lets the tools read.
func (s Sandbox) CheckSize(p string) error {
	r, err := s.Locate(None, p)
	if err != nil {
		return err
	}
	if m, ok := mountOf(r.Path, s.spec.Mounts); ok && !m.AllowsSize(r.Size) {
		return &FileTooLargeError{Path: p, Size: r.Size, Limit: m.MaxFileBytes}
	}
	return nil
}

// NeedsApproval reports whether the mount asks that the user approves op on p
// first. It fails where op is not allowed: there is nothing to approve then.
func (s Sandbox) NeedsApproval(op Access, p string) (bool, error) {
	r, err := s.Locate(op, p)
	if err != nil {
		return false, err
	}
	m, ok := mountOf(r.Path, s.spec.Mounts)
	return ok && (op.Has(Read) && m.ReadApproval || op.Has(Write) && m.WriteApproval), nil
}

// ReadableRoots returns the sandbox paths at which reading begins, in the
// order of the mounts. Places without a sandbox path are not among them.
func (s Sandbox) ReadableRoots() []string {
	return boundary(s.area, s.spec.Mounts, Read, asSandboxPath)
}

// WritableRoots returns the sandbox paths at which writing begins, in the
// order of the mounts.
func (s Sandbox) WritableRoots() []string {
	return boundary(s.area, s.spec.Mounts, Write, asSandboxPath)
}

// NetworkEnabled reports whether any host can be reached.
func (s Sandbox) NetworkEnabled() bool { return s.spec.Network.Mode != NetworkOff }
