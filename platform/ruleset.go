package platform

import (
	"fmt"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/policy"
)

// scopes end signals and abstract sockets at the sandbox.
const scopes = landlock.ScopeAbstractUnix | landlock.ScopeSignal

// layerRuleset is the second wall inside bubblewrap. What is mounted may be
// read; writing is granted again, place by place, so that a mount that turns
// out writable by mistake, or that the host adds later under a read-only one,
// is no hole. Drop boxes exist through it alone.
//
// A dynamic sandbox gets new mounts while it runs, at places that no rule
// knows of: there the mounts alone decide about files.
func layerRuleset(e policy.Effective, l bwrap.Layout) landlock.Ruleset {
	r := landlock.Ruleset{Files: !e.Dynamic, Scope: scopes}
	if e.Dynamic {
		return r
	}
	dropBox := make(map[string]bool, len(l.WriteOnly))
	for _, p := range l.WriteOnly {
		dropBox[p] = true
	}
	if len(dropBox) == 0 {
		r.Grants = append(r.Grants, landlock.Grant{Path: "/", Access: landlock.Read})
	}
	r.Grants = append(r.Grants, socketGrants(e)...)
	for _, m := range l.Mounts {
		access := mountAccess(m, len(dropBox) > 0)
		if dropBox[m.Path] {
			access = landlock.Write
		}
		if access != 0 {
			r.Grants = append(r.Grants, landlock.Grant{Path: m.Path, Access: access})
		}
	}
	return r
}

// mountAccess is what a mount of the layout needs. Reading is granted for all
// at the root, unless a drop box keeps that from being possible.
func mountAccess(m bwrap.Mount, byPlace bool) landlock.Access {
	read := landlock.Access(0)
	if byPlace {
		read = landlock.Read
	}
	switch m.Op {
	case bwrap.ROBind, bwrap.Copy:
		return read
	case bwrap.Bind, bwrap.Tmpfs, bwrap.Proc:
		return read | landlock.Write
	case bwrap.Dev:
		return read | landlock.Write | landlock.Control
	}
	return 0
}

// socketABI is the first Landlock that tells unix sockets of the host from the
// command's own.
const socketABI = 9

// socketGrants opens the sockets of the host that the policy lists.
func socketGrants(e policy.Effective) []landlock.Grant {
	grants := make([]landlock.Grant, len(e.Sockets.Paths))
	for i, p := range e.Sockets.Paths {
		grants[i] = landlock.Grant{Path: p, Access: landlock.Read | landlock.Connect}
	}
	return grants
}

// deviceNodes are what the built-in backend opens of /dev, as bubblewrap's
// --dev does. Not /dev/pts: it holds the caller's other terminals too, and what
// is typed into them could be read.
var deviceNodes = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// builtinRuleset expresses e by Landlock alone. Landlock grants only: what is
// narrower than its surroundings cannot be said, and is listed. The private
// places are not among the grants: the launcher adds the directory that stands
// for them.
func builtinRuleset(e policy.Effective, abi int) (r landlock.Ruleset, missing []string) {
	r = landlock.Ruleset{Files: true, Scope: scopes}
	add := func(p string, a landlock.Access) { r.Grants = append(r.Grants, landlock.Grant{Path: p, Access: a}) }
	for _, entry := range e.Area.Entries() {
		around := e.Area.Above(entry.Path)
		switch {
		case entry.Kind == policy.Private && around.Access == policy.None,
			entry.Kind == policy.Hidden && around.Access == policy.None:
		case entry.Kind == policy.Protected:
			// Reported as a guarantee that is not held: refusing every writable
			// repository would help nobody.
		case !entry.Access.Has(around.Access):
			missing = append(missing, fmt.Sprintf("%s is narrower than %s around it", entry.Path, around.Path))
		case entry.Type != policy.TypeMissing:
			add(entry.Path, landlockAccess(entry.Access))
		}
	}
	for _, node := range deviceNodes {
		add(node, landlock.Read|landlock.Write|landlock.Control)
	}
	add("/proc", landlock.Read)
	r.Grants = append(r.Grants, socketGrants(e)...)
	if e.Sockets.Any() && abi < socketABI {
		missing = append(missing, "unix_sockets without Landlock ABI 9 (Linux 7.1): every socket of the host could be reached")
	}
	return r, missing
}

func landlockAccess(a policy.Access) landlock.Access {
	var rights landlock.Access
	if a.Has(policy.Read) {
		rights |= landlock.Read
	}
	if a.Has(policy.Write) {
		rights |= landlock.Write
	}
	return rights
}
