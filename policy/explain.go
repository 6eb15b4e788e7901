package policy

// Explanation is all that there is to say about one access.
type Explanation struct {
	Op       Access
	Path     string // as asked
	Resolved string // canonical host path; empty where the path leads nowhere
	Decision
	AllowWith string // smallest flag that would allow it; empty where none does
	Tools     error  // why the built-in tools refuse what the kernel allows; nil where they do not
}

// Explain decides op on the host path p and says why. It agrees with Look.
func (e Effective) Explain(op Access, p string) Explanation {
	x := Explanation{Op: op, Path: p}
	r, d, err := e.Look(op, p)
	if err != nil {
		x.Reason = problemOf(err)
		return x
	}
	x.Resolved, x.Decision, x.AllowWith = r.Path, d, e.AllowWith(op, r, d)
	m, ok := e.MountOf(r.Path)
	switch {
	case !d.Allowed || !ok || r.Type == TypeDir:
	case !m.AllowsSuffix(r.Path):
		x.Tools = &SuffixNotAllowedError{Path: p, Allowed: m.Suffixes}
	case op.Has(Read) && !m.AllowsSize(r.Size):
		x.Tools = &FileTooLargeError{Path: p, Size: r.Size, Limit: m.MaxFileBytes}
	}
	return x
}

// Explain decides op on the sandbox path p and says why. It agrees with
// CanRead and CanWrite.
func (s Sandbox) Explain(op Access, p string) Explanation {
	host, err := s.hostPath(p)
	if err != nil {
		return Explanation{Op: op, Path: p, Decision: Decision{Reason: err.Error()}}
	}
	x := s.Effective().Explain(op, host)
	x.Path = p
	switch e := x.Tools.(type) {
	case *SuffixNotAllowedError:
		e.Path = p
	case *FileTooLargeError:
		e.Path = p
	}
	return x
}
