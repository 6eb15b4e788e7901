package sbpltest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// canonicalFilter maps every name of a filter to the one that it stands for.
var canonicalFilter = map[string]string{
	"literal": "path", "path": "path", "subpath": "subpath",
	"prefix": "path-prefix", "path-prefix": "path-prefix",
	"regex": "path-regex", "path-regex": "path-regex",
	"path-ancestors": "path-ancestors", "vnode-type": "vnode-type", "extension": "extension",
	"from": "local", "local": "local", "to": "remote", "remote": "remote",
	"target": "target", "socket-domain": "socket-domain", "socket-type": "socket-type",
	"socket-protocol": "socket-protocol",
	"global-name":     "global-name", "global-name-prefix": "global-name-prefix", "global-name-regex": "global-name-regex",
	"local-name": "local-name", "local-name-prefix": "local-name-prefix", "local-name-regex": "local-name-regex",
	"sysctl-name": "sysctl-name", "sysctl-name-prefix": "sysctl-name-prefix", "sysctl-name-regex": "sysctl-name-regex",
	"ipc-posix-name": "ipc-posix-name", "ipc-posix-name-prefix": "ipc-posix-name-prefix", "ipc-posix-name-regex": "ipc-posix-name-regex",
	"iokit-user-client-class": "iokit-registry-entry-class", "iokit-registry-entry-class": "iokit-registry-entry-class",
}

// Filters returns every filter name that a profile may use.
func Filters() []string {
	return append(slices.Sorted(maps.Keys(canonicalFilter)), "require-all", "require-any", "require-not")
}

// needs returns the class that an operation must take for the filter to
// apply. Extensions qualify every operation.
func needs(kind string) class {
	switch {
	case kind == "extension":
		return 0xff
	case kind == "target":
		return takesTarget
	case kind == "local" || kind == "remote":
		return takesNetwork
	case strings.HasPrefix(kind, "socket-"):
		return takesSocket
	case strings.HasPrefix(kind, "global-name"), strings.HasPrefix(kind, "local-name"):
		return takesMach
	case strings.HasPrefix(kind, "sysctl-name"):
		return takesSysctl
	case strings.HasPrefix(kind, "ipc-posix-name"):
		return takesIPC
	case kind == "iokit-registry-entry-class":
		return takesIOKit
	}
	return takesPath
}

// filter compiles one condition. takes is what all operations of the rule
// accept: libsandbox refuses a rule with a filter that one of them does not.
func (c *compiler) filter(n Node, takes class) (filter, error) {
	head := n.Head()
	if strings.HasPrefix(head, "require-") {
		return c.combined(n, takes)
	}
	kind, ok := canonicalFilter[head]
	if !ok {
		return filter{}, c.fail(n, "unbound variable: %s", head)
	}
	if needs(kind)&takes == 0 {
		return filter{}, c.fail(n, "filter %s does not apply to the operations of its rule", head)
	}
	args := n.Items[1:]
	switch kind {
	case "local", "remote":
		return c.socket(kind, n, takes)
	case "vnode-type", "target", "socket-domain", "socket-type":
		return c.symbol(kind, n)
	case "socket-protocol":
		if len(args) != 1 || args[0].Kind != Number {
			return filter{}, c.fail(n, "socket-protocol takes one number")
		}
		number, err := strconv.Atoi(args[0].Atom)
		return filter{kind: kind, number: number}, err
	}
	return c.strings(kind, n)
}

// combined compiles require-any, require-all and require-not. The last takes
// one argument; profiles with two were refused.
func (c *compiler) combined(n Node, takes class) (filter, error) {
	f := filter{kind: n.Head()}
	switch {
	case f.kind != "require-any" && f.kind != "require-all" && f.kind != "require-not":
		return f, c.fail(n, "unbound variable: %s", f.kind)
	case f.kind == "require-not" && len(n.Items) != 2:
		return f, c.fail(n, "require-not takes exactly one filter")
	case len(n.Items) < 2:
		return f, c.fail(n, "%s without a filter", f.kind)
	}
	for _, item := range n.Items[1:] {
		sub, err := c.filter(item, takes)
		if err != nil {
			return f, err
		}
		f.subs = append(f.subs, sub)
	}
	return f, nil
}

// symbols lists the arguments of filters that take a word, as far as a
// profile of ours has a use for them.
var symbols = map[string]string{
	"vnode-type":    "REGULAR-FILE DIRECTORY SYMLINK SOCKET FIFO BLOCK-DEVICE CHARACTER-DEVICE TTY",
	"target":        "self pgrp others children same-sandbox initproc",
	"socket-domain": "AF_UNIX AF_LOCAL AF_INET AF_INET6 AF_SYSTEM AF_ROUTE",
	"socket-type":   "SOCK_STREAM SOCK_DGRAM SOCK_RAW",
}

// symbol compiles a filter over one of a fixed set of words.
func (c *compiler) symbol(kind string, n Node) (filter, error) {
	args := n.Items[1:]
	if len(args) != 1 || args[0].Kind != Symbol || !slices.Contains(strings.Fields(symbols[kind]), args[0].Atom) {
		return filter{}, c.fail(n, "%s takes one of %s", kind, symbols[kind])
	}
	return filter{kind: kind, text: args[0].Atom}, nil
}

// strings compiles a filter over one or more strings, of which any may match.
func (c *compiler) strings(kind string, n Node) (filter, error) {
	var alternatives []filter
	for _, arg := range n.Items[1:] {
		text, err := c.text(arg)
		if err != nil {
			return filter{}, err
		}
		f, err := c.oneString(kind, text, arg)
		if err != nil {
			return filter{}, err
		}
		alternatives = append(alternatives, f)
	}
	switch len(alternatives) {
	case 0:
		return filter{}, c.fail(n, "%s without an argument", kind)
	case 1:
		return alternatives[0], nil
	}
	return filter{kind: "require-any", subs: alternatives}, nil
}

// oneString compiles one alternative. Whether libsandbox refuses a relative
// path is not known; one can never match, so it is an error here.
func (c *compiler) oneString(kind, text string, n Node) (filter, error) {
	f := filter{kind: kind, text: text, fold: strings.ToLower(text)}
	switch {
	case strings.HasSuffix(kind, "-regex"):
		p, err := compileRegex(text)
		if err != nil {
			return f, c.fail(n, "%v", err)
		}
		f.re, f.reCI, f.never = p.re, p.reCI, p.never
	case needs(kind) == takesPath && !strings.HasPrefix(text, "/"):
		return f, c.fail(n, "path %q is not absolute", text)
	case kind == "subpath":
		f.under, f.belowFold = strings.TrimSuffix(text, "/")+"/", strings.TrimSuffix(f.fold, "/")+"/"
	}
	return f, nil
}

// text evaluates a string argument: a literal, or (param "NAME"), which is #f
// and therefore a type error when the name has no value.
func (c *compiler) text(n Node) (string, error) {
	if n.Kind == Text {
		return n.Atom, nil
	}
	if n.Head() == "param" && len(n.Items) == 2 && n.Items[1].Kind == Text {
		if v, ok := c.params[n.Items[1].Atom]; ok {
			return v, nil
		}
		return "", c.fail(n, "parameter %q has no value: #f is not a string", n.Items[1].Atom)
	}
	return "", c.fail(n, "want a string")
}

// socket compiles (local PROTO ["HOST:PORT"]) and (remote unix-socket [PATH]).
func (c *compiler) socket(kind string, n Node, takes class) (filter, error) {
	args := n.Items[1:]
	if len(args) == 0 || len(args) > 2 || args[0].Kind != Symbol {
		return filter{}, c.fail(n, "%s takes a protocol and at most one address", kind)
	}
	f := filter{kind: kind, v4: true, v6: true}
	proto := args[0].Atom
	switch base := strings.TrimRight(proto, "46"); {
	case proto == "unix" || proto == "unix-socket":
		f.unix = true
	case base == "ip" || base == "tcp" || base == "udp":
		if base != "ip" {
			f.via = base
		}
		f.v4, f.v6 = !strings.HasSuffix(proto, "6"), !strings.HasSuffix(proto, "4")
	default:
		return f, c.fail(n, "unbound variable: %s", proto)
	}
	if len(args) == 1 {
		return f, nil
	}
	if f.unix {
		sub, err := c.filter(args[1], takes&takesPath)
		f.subs = []filter{sub}
		return f, err
	}
	address, err := c.text(args[1])
	if err != nil {
		return f, err
	}
	return f, c.address(&f, address, args[1])
}

// address compiles "HOST:PORT". Any other host than these two refuses the
// profile (zeroclaw#4764), so a filter cannot name a machine.
func (c *compiler) address(f *filter, s string, n Node) error {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return c.fail(n, "address %q has no port", s)
	}
	f.host = s[:i]
	if f.host != "*" && f.host != "localhost" {
		return c.fail(n, "host must be * or localhost in network address")
	}
	if s[i+1:] == "*" {
		return nil
	}
	port, err := strconv.ParseUint(s[i+1:], 10, 16)
	if err != nil || port == 0 {
		return c.fail(n, "port %q is not * or 1 to 65535", s[i+1:])
	}
	f.port = int(port)
	return nil
}
