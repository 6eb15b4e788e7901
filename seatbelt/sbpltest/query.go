package sbpltest

import "net/netip"

// Query asks for one operation on one object. Only the fields that the
// operation's filters look at need values.
type Query struct {
	Op string // concrete, as the kernel checks it: file-read-data, not file-read*

	// Path is the object's path as the kernel resolves it: absolute, no
	// symlinks, no "." or "..", /private/tmp rather than /tmp. For AF_UNIX
	// sockets it is the socket's path.
	Path      string
	VnodeType string // REGULAR-FILE, DIRECTORY, SYMLINK, ...; "" matches no vnode-type filter

	Name   string // mach service, sysctl, ipc or iokit class name
	Target string // self, others, children, same-sandbox, pgrp

	Extensions []string // classes of the sandbox extensions that cover Path

	Domain   string // AF_UNIX, AF_INET, AF_INET6, AF_SYSTEM: for system-socket
	SockType string // SOCK_STREAM, ...
	Protocol int    // of an AF_SYSTEM socket

	Socket Socket
}

// Socket describes the socket of a network operation.
type Socket struct {
	Unix   bool
	Proto  string         // tcp or udp
	Local  netip.AddrPort // zero while the socket is unbound
	Remote netip.AddrPort // zero for bind, listen and accept
}

// isLocalhost reports whether a filter's "localhost" covers the address:
// 127.0.0.0/8 and ::1, but not the v4-mapped ::ffff:127.0.0.1 (sandbox-runtime
// documents the trap for dual-stack sockets).
func isLocalhost(a netip.Addr) bool { return a.IsLoopback() && !a.Is4In6() }
