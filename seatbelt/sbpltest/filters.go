package sbpltest

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// filter is one compiled condition of a rule.
type filter struct {
	kind      string // canonical name
	text      string // argument, when it is one string or symbol
	fold      string // text in lower case, for path filters
	under     string // text + "/", for subpath
	belowFold string // fold + "/"
	re        *regexp.Regexp
	reCI      *regexp.Regexp
	never     bool // a pattern that is accepted and matches nothing

	unix bool   // local/remote: AF_UNIX only
	via  string // local/remote: tcp, udp or "" for both
	v4   bool
	v6   bool
	host string // "*" or "localhost"; "" when no address is given
	port int    // 0 is any

	number int
	subs   []filter
}

// object is a Query with what every filter would have to compute again.
type object struct {
	Query
	folded string // lower-case path; "" unless names are compared without case
}

// matches reports whether the condition holds. A filter on something that the
// object does not have, as a path of an IP socket, does not.
func (f *filter) matches(o *object) bool {
	switch f.kind {
	case "require-any":
		return slices.ContainsFunc(f.subs, func(s filter) bool { return s.matches(o) })
	case "require-all":
		return !slices.ContainsFunc(f.subs, func(s filter) bool { return !s.matches(o) })
	case "require-not":
		return !f.subs[0].matches(o)
	case "path", "subpath", "path-prefix", "path-regex", "path-ancestors":
		return o.Path != "" && f.matchesPath(o)
	case "vnode-type":
		return o.VnodeType == f.text
	case "extension":
		return slices.Contains(o.Extensions, f.text)
	case "target":
		return o.Target == f.text
	case "socket-domain":
		return o.Domain == f.text
	case "socket-type":
		return o.SockType == f.text
	case "socket-protocol":
		return o.Domain != "" && o.Protocol == f.number
	case "local", "remote":
		return f.matchesSocket(&o.Socket, o)
	}
	return o.Name != "" && f.matchesName(o.Name)
}

// matchesPath compares resolved paths; subpath covers its own path, existing
// or not (shipped by Nix).
func (f *filter) matchesPath(o *object) bool {
	path, text, under, re := o.Path, f.text, f.under, f.re
	if o.folded != "" {
		path, text, under, re = o.folded, f.fold, f.belowFold, f.reCI
	}
	switch f.kind {
	case "path":
		return path == text
	case "subpath":
		return path == text || strings.HasPrefix(path, under)
	case "path-prefix":
		return strings.HasPrefix(path, text)
	case "path-ancestors":
		return isAncestor(path, text)
	}
	return !f.never && re.MatchString(path)
}

// isAncestor reports whether dir is a strict ancestor of path; "/" is one of
// every other path.
func isAncestor(dir, path string) bool {
	if dir == "/" {
		return path != "/"
	}
	return strings.HasPrefix(path, dir+"/")
}

// matchesName compares the names of services, sysctls and shared memory.
func (f *filter) matchesName(name string) bool {
	switch {
	case f.re != nil || f.never:
		return !f.never && f.re.MatchString(name)
	case strings.HasSuffix(f.kind, "-prefix"):
		return strings.HasPrefix(name, f.text)
	}
	return name == f.text
}

// matchesSocket models local and remote. An IP filter never matches AF_UNIX
// (measured by mxc). An unbound local end is 0.0.0.0, which "localhost:*"
// covers: that is how a local filter on outbound opens every destination
// (measured by sandbox-runtime).
func (f *filter) matchesSocket(s *Socket, o *object) bool {
	if f.unix || s.Unix {
		return f.unix && s.Unix && (len(f.subs) == 0 || f.subs[0].matches(o))
	}
	end := s.Remote
	if f.kind == "local" {
		end = s.Local
		if !end.IsValid() {
			return f.speaks(s, netip.Addr{})
		}
	}
	if !end.IsValid() || !f.speaks(s, end.Addr()) {
		return false
	}
	return (f.host != "localhost" || isLocalhost(end.Addr())) && (f.port == 0 || f.port == int(end.Port()))
}

// speaks reports whether the filter's protocol word covers the socket.
func (f *filter) speaks(s *Socket, a netip.Addr) bool {
	if f.via != "" && f.via != s.Proto {
		return false
	}
	return !a.IsValid() || (f.v4 && a.Is4()) || (f.v6 && a.Is6())
}
