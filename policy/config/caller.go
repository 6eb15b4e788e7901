package config

import (
	"path"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// A caller bounds what its callee can get. What it lacks is cut from a
// configuration, whose author did not know the caller, and refused in flags,
// whose author does.

// Call is Load for a callee of the caller: the result never has more than the
// caller. Derive flags are still to be applied, as after Load. No file needs
// trust: whatever it grants, the caller has already.
func Call(caller policy.Sandbox, flags Flags, host Host) (Loaded, error) {
	if err := admit(caller, flags, host); err != nil {
		return Loaded{}, err
	}
	host.caller = &caller
	host.Trusted = func(string, string) bool { return true }
	loaded, err := Load(flags, host)
	if err != nil {
		return Loaded{}, err
	}
	loaded.Program = caller.Meet(loaded.Program).Without(loaded.cut...)
	loaded.Sandbox = caller.Meet(loaded.Sandbox).Without(loaded.cut...)
	return loaded, nil
}

// admit refuses flags that ask for more than the caller has, with a
// *policy.PermissionEscalationError that shows its boundary.
func admit(caller policy.Sandbox, flags Flags, host Host) error {
	e := caller.Effective()
	for _, f := range []struct {
		name  string
		op    policy.Access
		paths []string
	}{{"--ro", policy.Read, flags.RO}, {"--rw", policy.ReadWrite, flags.RW}} {
		for _, p := range f.paths {
			if !callerHas(e, f.op, p, host) {
				return outside(flagText(f.name, p), f.op, e.MountRoots(f.op))
			}
		}
	}
	return admitOthers(caller, flags)
}

// admitOthers looks at what is no path.
func admitOthers(caller policy.Sandbox, flags Flags) error {
	e := caller.Effective()
	if flags.System == policy.HostSystem.String() && e.System != policy.HostSystem {
		return &policy.PermissionEscalationError{
			Asked: "--system host", Boundary: "the outer sandbox has the system base " + e.System.String(), Alternatives: []string{"--system " + e.System.String()},
		}
	}
	if len(flags.Net) > 0 && flags.Net[0] != "off" && flags.Net[0] != "false" && e.Network.Mode == policy.NetworkOff {
		return &policy.PermissionEscalationError{
			Asked: flagText("--net", flags.Net[0]), Boundary: "the outer sandbox has no network access", Alternatives: []string{"--net=off"},
		}
	}
	var limits policy.Limits
	for _, l := range flags.Limits {
		set, fault := SetLimit(limits, l)
		if fault != nil {
			return nil // Load words it
		}
		limits = set
	}
	_, err := caller.Derive(policy.Request{Inherit: true, Limits: limits})
	return err
}

func outside(asked string, op policy.Access, roots []string) error {
	word, flag := "readable", "--ro"
	if op.Has(policy.Write) {
		word, flag = "writable", "--rw"
	}
	e := &policy.PermissionEscalationError{Asked: asked, Boundary: "the outer sandbox has no " + word + " paths"}
	if len(roots) > 0 {
		shown := strings.Join(roots, ", ")
		e.Boundary = "the " + word + " paths of the outer sandbox are " + shown
		e.Alternatives = []string{flag + " at or below " + shown}
	}
	return e
}

// callerHas reports whether the caller has the access op at a path as written
// on the command line. What cannot be looked up is left to Load to word.
func callerHas(e policy.Effective, op policy.Access, written string, host Host) bool {
	p, bad := expandHome(written, host.Places.Home)
	switch {
	case bad != nil:
		return true
	case !path.IsAbs(p):
		p = join(host.Places.Cwd, p)
	}
	return lacksNothing(e, op, p)
}

func lacksNothing(e policy.Effective, op policy.Access, p string) bool {
	_, d, err := e.Look(op, p)
	return err != nil || d.Allowed
}

// cut finds a root of a file that the caller lacks as a whole, and may not
// even see. It stays in the policy under its name, without any access, so that
// the lists of workers still mean it.
func (b *builder) cut(o origin, written string) (policy.Resolution, bool) {
	if b.host.caller == nil {
		return policy.Resolution{}, false
	}
	p, bad := expandHome(written, b.host.Places.Home)
	if bad != nil {
		return policy.Resolution{}, false
	}
	if !path.IsAbs(p) {
		p = join(o.dir, p)
	}
	e := b.host.caller.Effective()
	r, d, err := e.Look(policy.None, p)
	switch gone := d.Entry.OfOuter() && r.Type == policy.TypeMissing; {
	case err != nil, leadsTo(e, r.Path), d.Entry.Access != policy.None && !gone:
		return policy.Resolution{}, false
	}
	b.warn("", "%s: cut, the outer sandbox does not show it", o.text)
	b.gone = append(b.gone, r.Path)
	return policy.Resolution{Path: r.Path, Type: policy.TypeDir}, true
}

// leadsTo reports whether something that the caller has lies below dir.
func leadsTo(e policy.Effective, dir string) bool {
	for _, roots := range [][]string{e.Readable(), e.Writable()} {
		for _, root := range roots {
			if policy.Contains(dir, root) {
				return true
			}
		}
	}
	return false
}
