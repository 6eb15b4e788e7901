package policy

import (
	"slices"
	"strconv"
)

// Call returns the sandbox of a callee: what its program grants, narrowed by
// its own request, and of that what the caller has too.
//
//	Call(c, p, r)(x) = c(x) ∩ p.Derive(r)(x)
//
// A chain of calls never grants more than any of its callers, and a worker
// that is called again further down gets no more than it had. What the caller
// lacks is cut without an error; the request fails as Derive does.
func Call(caller, program Sandbox, r Request) (Sandbox, error) {
	callee, err := program.Derive(r)
	if err != nil {
		return Sandbox{}, err
	}
	return caller.Meet(callee), nil
}

// Attach returns the sandbox with files of its caller added, read-only even
// where the callee could write. Paths are canonical host paths, as
// files.Attachment has them: that package checks the limits. It fails with a
// *PathNotInSandboxError where the caller may not read a file, and where the
// callee's own rules have closed it for good.
func (s Sandbox) Attach(caller Sandbox, paths ...string) (Sandbox, error) {
	given, own := caller.Effective(), s.Effective()
	var entries []Entry
	for _, p := range paths {
		r, d, err := given.Look(Read, p)
		if err != nil {
			return Sandbox{}, &InvalidPathError{Op: Read, Path: p, Problem: problemOf(err)}
		}
		if !d.Allowed || r.Path != p {
			return Sandbox{}, &PathNotInSandboxError{Op: Read, Path: p, Boundary: given.ReadableAsWritten()}
		}
		if at := own.Decide(Read, p); !at.Allowed && at.refusal == byFinalRule {
			return Sandbox{}, &PathNotInSandboxError{Op: Read, Path: p, Boundary: own.ReadableAsWritten()}
		}
		entries = append(entries, Entry{Path: p, Access: Read, Kind: Granted, Type: r.Type, Rule: Rule{Text: "--attach " + ShellQuote(own.relative(p))}})
	}
	s.area = s.area.Overlay(entries...)
	return s, nil
}

// Without returns s with nothing at and below the canonical paths, which are
// not there to be granted.
func (s Sandbox) Without(paths ...string) Sandbox {
	gone := make([]Entry, len(paths))
	for i, p := range paths {
		gone[i] = Entry{Path: p, Kind: Hidden, Type: TypeMissing}
	}
	s.area = s.area.Cut(gone...)
	return s
}

// Confine returns a sandbox that stands for what a process is confined to
// already, as a Description has it: s.Meet(x) is then what a sandbox x inside
// of it can have. Names in refusals are host paths.
func Confine(d Description) Sandbox {
	var base, all []Entry
	spec := Spec{Network: d.network(), Limits: d.Limits, Places: Places{}, RequireOS: true}
	spec.Base.System = d.System
	spec.Env.Pass = []string{anyName} // the outer sandbox has chosen what there is
	for _, e := range d.entries() {
		all = append(all, e)
		if e.Kind == System || e.Kind == Private {
			base = append(base, e)
		}
	}
	// What the user granted comes first: refusals list the mounts.
	for _, private := range []bool{false, true} {
		for _, e := range all {
			if e.Kind == Granted && (e.Rule == privateRule) == private {
				spec.Mounts = append(spec.Mounts, Mount{
					Name: "outer" + strconv.Itoa(len(spec.Mounts)), Root: e.Path, Written: e.Path, Mode: modeFor(e.Access), Type: e.Type, Rule: e.Rule,
				})
			}
		}
	}
	spec.Base.Entries = base
	return Sandbox{spec: spec, base: NewArea(base...), area: NewArea(all...)}
}

// ByNumber returns s with a name for each of its mounts, so that sandbox paths
// reach all of them: those that presets and flags of the root form made too.
func (s Sandbox) ByNumber() Sandbox {
	s.spec.Form = PathForm
	s.spec.Mounts = slices.Clone(s.spec.Mounts)
	for i := range s.spec.Mounts {
		s.spec.Mounts[i].Name = "mount" + strconv.Itoa(i)
	}
	return s
}

// MountRoots returns the roots of the mounts with the access op, as written
// and in their order. For what Confine returns that is: what the user granted,
// then what is private to the outer sandbox.
func (e Effective) MountRoots(op Access) []string {
	var roots []string
	for _, m := range e.Mounts {
		if e.Decide(op, m.Root).Allowed {
			roots = append(roots, m.Written)
		}
	}
	return roots
}

// anyName is the pattern of a caller that bounds no variable. No file can
// hold it.
const anyName = "*"

func modeFor(a Access) Mode {
	if a.Has(Write) {
		return ReadAndWrite
	}
	return ReadOnly
}
