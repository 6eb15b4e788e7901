package seatbelt

import (
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt/sbpltest"
)

// oracle answers what a profile has to allow, from the policy and from the
// exceptions that the package documentation lists. It shares no code with the
// renderer but the lists of constants.
type oracle struct {
	c    sample
	base []string // places of the system base
	pins map[string]bool
}

func newOracle(c sample) oracle {
	o := oracle{c: c, pins: map[string]bool{}}
	switch c.truth.System {
	case policy.Minimal:
		o.base = slices.Concat(programRoots, programFiles)
	case policy.HostSystem:
		o.base = slices.Concat(programRoots, programFiles, hostRoots)
	}
	if c.truth.System != policy.NoSystem && c.truth.Network.Mode != policy.NetworkOff {
		o.base = append(o.base, networkFiles...)
	}
	for _, e := range o.significant() {
		for p := e.Path; p != "/"; p = parentOf(p) {
			o.pins[p] = true
		}
	}
	return o
}

// significant are the entries that the area keeps, and those of the run.
func (o oracle) significant() []policy.Entry {
	entries := slices.Clone(o.c.truth.Area.Entries())
	for _, p := range o.c.run.Private {
		entries = append(entries, policy.Entry{Path: p, Access: policy.ReadWrite, Type: policy.TypeDir})
	}
	return entries
}

// access is what the policy gives for a canonical path, with the run's own
// directories and the base beneath.
func (o oracle) access(p string) policy.Access {
	if o.private(p) {
		return policy.ReadWrite
	}
	at := o.c.truth.Area.At(p)
	explicit := o.c.truth.Area.Lists(at.Path) && (at.Path != "/" || at.Access != policy.None)
	if a, ok := o.device(p); ok && (!explicit || at.Path == "/dev") && at.Access == policy.None && !o.denied(p) {
		return a
	}
	if o.volume(p) {
		if !policy.Contains(cryptexes, p) {
			return policy.None
		}
		if explicit {
			return at.Access.Meet(policy.Read)
		}
	}
	if explicit || o.denied(p) {
		return at.Access
	}
	if p == "/" {
		return policy.Read
	}
	return o.baseAccess(p)
}

// private reports a path in the run's own directories that the policy does not
// speak of; a rule about a directory around them does not close them.
func (o oracle) private(p string) bool {
	for _, dir := range o.c.run.Private {
		if !policy.Contains(dir, p) {
			continue
		}
		return !policy.Contains(dir, o.c.truth.Area.At(p).Path) && !slices.ContainsFunc(o.c.truth.Denies, func(d policy.Deny) bool {
			l, _ := d.Literal()
			return policy.Contains(dir, l) && policy.Contains(l, p)
		})
	}
	return false
}

func (o oracle) denied(p string) bool {
	return slices.ContainsFunc(o.c.truth.Denies, func(d policy.Deny) bool {
		l, _ := d.Literal()
		return policy.Contains(l, p)
	})
}

func (o oracle) baseAccess(p string) policy.Access {
	if o.c.truth.System == policy.HostSystem && within(hostSecrets, p) {
		return policy.None
	}
	for _, b := range o.base {
		if b == p || policy.Contains(b, p) && !slices.Contains(programFiles, b) && !slices.Contains(networkFiles, b) {
			return policy.Read
		}
	}
	return policy.None
}

// volume reports a second name that only a grant above would cover: see
// closeVolumes. A grant of "/" means all names.
func (o oracle) volume(p string) bool {
	if !policy.Contains(volumes, p) {
		return false
	}
	at := o.c.truth.Area.At(p)
	return at.Path != "/" && !policy.Contains(volumes, at.Path) || !o.c.truth.Area.Lists(at.Path)
}

func (o oracle) device(p string) (policy.Access, bool) {
	switch p {
	case "/dev/null", "/dev/dtracehelper", "/dev/fd/1":
		return policy.ReadWrite, true
	case "/dev/zero", "/dev/random", "/dev/urandom", "/dev/autofs_nowait":
		return policy.Read, true
	case "/dev/tty", "/dev/ptmx", "/dev/ttys003":
		if o.c.run.Terminal != "" {
			return policy.ReadWrite, true
		}
	}
	return policy.None, false
}

func within(roots []string, p string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return policy.Contains(r, p) })
}

// wants says whether op on the canonical path p must be allowed.
func (o oracle) wants(op, p string) bool {
	a := o.access(p)
	switch op {
	case "file-read-data", "file-read-xattr", "process-exec*":
		return a.Has(policy.Read) && (op != "process-exec*" || !o.isDevice(p))
	case "file-clone":
		return a.Has(policy.Read) && !o.isDevice(p)
	case "file-read-metadata", "file-test-existence":
		return a.Has(policy.Read) || o.above(p)
	case "file-link":
		return a.Has(policy.ReadWrite) && !o.isDevice(p)
	case "file-write-unlink":
		return a.Has(policy.Write) && a.Has(policy.Read) && !o.pins[p] && !o.isDevice(p)
	case "file-write-create":
		return a.Has(policy.Write) && !o.reserved(p)
	case "file-write-mode", "file-write-xattr":
		return a.Has(policy.Write) && !o.fixedDevice(p)
	case "file-write-setugid":
		return false
	}
	return a.Has(policy.Write)
}

// isDevice reports a device that is open because the sandbox's own /dev is.
func (o oracle) isDevice(p string) bool {
	_, ok := o.device(p)
	return ok && o.c.truth.Area.At(p).Access == policy.None
}

func (o oracle) fixedDevice(p string) bool {
	return (p == "/dev/null" || p == "/dev/dtracehelper" || p == "/dev/fd/1") && !o.c.truth.Area.At("/dev/null").Access.Has(policy.Write)
}

// above reports the ancestors of what is shown.
func (o oracle) above(p string) bool {
	if slices.Contains(linkNames, p) {
		return true
	}
	for _, e := range o.significant() {
		if e.Access != policy.None && e.Path != p && policy.Contains(p, e.Path) {
			return true
		}
	}
	return slices.ContainsFunc(o.base, func(b string) bool { return b != p && policy.Contains(p, b) }) || o.closure(p)
}

// closure: a grant that encloses the volumes shows the cryptexes in them.
func (o oracle) closure(p string) bool {
	if p == cryptexes || !policy.Contains(p, cryptexes) {
		return false
	}
	return slices.ContainsFunc(o.significant(), func(e policy.Entry) bool {
		return e.Path != "/" && e.Access.Has(policy.Read) && policy.Contains(e.Path, volumes)
	})
}

// reserved reports the directories above absent closed places.
func (o oracle) reserved(p string) bool {
	for _, e := range o.c.truth.Area.Entries() {
		absent := e.Type == policy.TypeMissing || e.Type == policy.TypeUnknown
		under := o.c.truth.Area.Above(e.Path)
		if absent && !e.Access.Has(policy.Write) && under.Access.Has(policy.Write) &&
			p != e.Path && policy.Contains(p, e.Path) && p != under.Path && policy.Contains(under.Path, p) {
			return true
		}
	}
	return false
}

func parentOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i > 0 {
		return p[:i]
	}
	return "/"
}

// askedOperations are the questions on each path: one a kind of system call.
var askedOperations = []string{
	"file-read-data", "file-read-metadata", "file-read-xattr", "file-test-existence", "process-exec*", "file-clone", "file-link",
	"file-write-create", "file-write-data", "file-write-unlink", "file-write-mode", "file-write-times", "file-write-xattr", "file-write-setugid",
}

// fixedPaths are asked about whatever the policy, six of them on each.
var fixedPaths = []string{
	"/dev/null", "/dev/zero", "/dev/tty", "/dev/ttys003", "/dev/disk0", "/usr/bin/env",
	"/System/Library/x", "/bin", "/Users/u/.ssh/id", "/private/etc/hosts", "/private/etc/master.passwd", "/Library/Keychains/System.keychain",
	"/opt/homebrew/var/x", "/System/Volumes/Data/Users/u/.ssh/id", cryptexes + "/OS/x", "/private/tmp/x",
	"/private/var/folders/zz/T/sbx-7/tmp/x", "/private/etc/resolv.conf",
}

// askedPaths are the canonical paths to ask about: each entry, what lies at,
// below, beside and above it, and fixed ones.
func askedPaths(c sample) []string {
	paths := []string{"/"}
	for i := range 6 {
		paths = append(paths, fixedPaths[(int(c.n)*6+i)%len(fixedPaths)])
	}
	for _, e := range c.entries {
		paths = append(paths, e.Path, joined(e.Path, "below"), joined(e.Path, "x")+"/deep", e.Path+"-beside", parentOf(e.Path))
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func joined(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

func fileQuery(op, p string) sbpltest.Query {
	return sbpltest.Query{Op: op, Path: p, VnodeType: "REGULAR-FILE"}
}
