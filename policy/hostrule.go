package policy

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// HostRule names a host, or with a leading "*." every name below a host (not
// the host itself), and optionally one port.
type HostRule struct {
	Host string // lower case, no trailing dot; an IP address in canonical form
	Port int    // 0 is every port
}

// String writes the rule the way ParseHostRule reads it.
func (h HostRule) String() string {
	host := h.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if h.Port == 0 {
		return host
	}
	return host + ":" + strconv.Itoa(h.Port)
}

// Matches reports whether the rule covers host and port. Port 0 asks for all
// ports and is covered only by a rule without a port.
func (h HostRule) Matches(host string, port int) bool {
	if h.Port != 0 && h.Port != port {
		return false
	}
	if below, ok := strings.CutPrefix(h.Host, "*"); ok {
		return strings.HasSuffix(host, below) && len(host) > len(below)
	}
	return h.Host == host
}

// covers reports whether h names all that other does.
func (h HostRule) covers(other HostRule) bool {
	if h.Port != 0 && h.Port != other.Port {
		return false
	}
	if h.Host == other.Host {
		return true
	}
	below, wild := strings.CutPrefix(h.Host, "*")
	return wild && strings.HasSuffix(strings.TrimPrefix(other.Host, "*"), below)
}

// meet returns what both rules name. Names lie in each other or apart, so
// that is one rule or nothing.
func (h HostRule) meet(other HostRule) (HostRule, bool) {
	port := max(h.Port, other.Port)
	a, b := HostRule{Host: h.Host, Port: port}, HostRule{Host: other.Host, Port: port}
	switch {
	case h.Port != 0 && other.Port != 0 && h.Port != other.Port:
		return HostRule{}, false
	case a.covers(b):
		return b, true
	case b.covers(a):
		return a, true
	}
	return HostRule{}, false
}

// ParseHostRule reads "host", "host:port", "*.host", "192.0.2.1:80" or
// "[2001:db8::1]:443". A bare "*" is refused: that is what network: true says.
func ParseHostRule(s string) (HostRule, error) {
	host, port, err := splitHostPort(s)
	if err != nil {
		return HostRule{}, err
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return HostRule{}, fmt.Errorf("host %q: an address with a zone names an interface of this machine, not a host", s)
		}
		return HostRule{Host: addr.Unmap().String(), Port: port}, nil
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if err := checkHostName(strings.TrimPrefix(host, "*.")); err != nil {
		return HostRule{}, fmt.Errorf("host %q: %w", s, err)
	}
	return HostRule{Host: host, Port: port}, nil
}

func splitHostPort(s string) (host string, port int, err error) {
	host, digits, hasPort := s, "", false
	switch {
	case strings.HasPrefix(s, "["):
		var rest string
		var closed bool
		host, rest, closed = strings.Cut(s[1:], "]")
		if !closed || (rest != "" && rest[0] != ':') {
			return "", 0, fmt.Errorf("host %q: want [ADDRESS] or [ADDRESS]:PORT", s)
		}
		if rest != "" {
			digits, hasPort = rest[1:], true
		}
		if addr, err := netip.ParseAddr(host); err != nil || !addr.Is6() {
			return "", 0, fmt.Errorf("host %q: brackets are for IPv6 addresses", s)
		}
	case strings.Count(s, ":") == 1:
		host, digits, hasPort = strings.Cut(s, ":")
	case strings.Count(s, ":") > 1:
		return "", 0, fmt.Errorf("host %q: an IPv6 address stands in brackets", s)
	}
	if !hasPort {
		return host, 0, nil
	}
	port, err = strconv.Atoi(digits)
	if err != nil || port < 1 || port > 65535 || digits[0] == '+' {
		return "", 0, fmt.Errorf("host %q: port must be a number from 1 to 65535", s)
	}
	return host, port, nil
}

// checkHostName accepts what DNS and hosts files use; anything else in a rule
// is more likely a URL, a pattern or a typing error than a name. A name whose
// last part is a number is none: inet_aton(3) would make an address of it
// ("127.1", "0x7f000001").
func checkHostName(host string) error {
	if host == "*" || host == "" {
		return fmt.Errorf("name a host; for all hosts write network: true")
	}
	if len(host) > 253 {
		return fmt.Errorf("longer than 253 characters")
	}
	last := ""
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return fmt.Errorf("each part between dots has 1 to 63 characters")
		}
		for _, c := range []byte(label) {
			if !isHostByte(c) {
				return fmt.Errorf("%q cannot stand in a host name", c)
			}
		}
		last = label
	}
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || strings.Trim(last, "0123456789") == "" {
		return fmt.Errorf("neither a name nor a complete IP address")
	}
	return nil
}

func isHostByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}
