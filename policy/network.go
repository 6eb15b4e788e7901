package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// NetworkMode is how much of the network a command reaches.
type NetworkMode uint8

// The modes, narrowest first; the zero value is off.
const (
	NetworkOff NetworkMode = iota
	NetworkList
	NetworkOn
)

// String gives the spelling of the JSON output.
func (m NetworkMode) String() string {
	return [...]string{"off", "allow-list", "on"}[m]
}

// Network is the network part of a policy. Allow and Deny count only with
// NetworkList; deny wins.
type Network struct {
	Mode  NetworkMode
	Allow []HostRule
	Deny  []HostRule
	Rule  Rule
}

// Connect decides whether the command may reach host at port; port 0 asks for
// every port.
func (e Effective) Connect(host string, port int) Decision {
	n := e.Network
	d := Decision{Entry: Entry{Rule: n.Rule}}
	switch n.Mode {
	case NetworkOff:
		d.Reason = "the network is off"
	case NetworkOn:
		d.Allowed, d.Reason = true, "the network is on"
	case NetworkList:
		d.Allowed, d.Reason = n.decide(canonicalHost(host), port)
	}
	return d
}

// decide looks host up in the lists. A question for every port is denied by a
// rule for any.
func (n Network) decide(host string, port int) (allowed bool, reason string) {
	for _, h := range n.Deny {
		if h.Matches(host, port) || port == 0 && h.Matches(host, h.Port) {
			return false, fmt.Sprintf("denied by %s", h)
		}
	}
	for _, h := range n.Allow {
		if h.Matches(host, port) {
			return true, fmt.Sprintf("allowed by %s", h)
		}
	}
	return false, "not on the allow-list"
}

// canonicalHost spells host the way rules do.
func canonicalHost(host string) string {
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.Unmap().String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// Meet returns what both networks allow. What either denies stays denied.
func (n Network) Meet(m Network) Network {
	switch {
	case n.Mode == NetworkOff || m.Mode == NetworkOn:
		return n
	case m.Mode == NetworkOff || n.Mode == NetworkOn:
		return m
	}
	both := Network{Mode: NetworkList, Rule: m.Rule}
	for _, a := range n.Allow {
		for _, b := range m.Allow {
			if h, ok := a.meet(b); ok && !slices.Contains(both.Allow, h) {
				both.Allow = append(both.Allow, h)
			}
		}
	}
	for _, h := range slices.Concat(n.Deny, m.Deny) {
		if !slices.Contains(both.Deny, h) {
			both.Deny = append(both.Deny, h)
		}
	}
	return both
}

// covers reports whether all that h names may be reached.
func (n Network) covers(h HostRule) bool {
	if n.Mode != NetworkList {
		return n.Mode == NetworkOn
	}
	covers := func(rule HostRule) bool { return rule.covers(h) }
	return slices.ContainsFunc(n.Allow, covers) && !slices.ContainsFunc(n.Deny, covers)
}
