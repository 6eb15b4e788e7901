//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"golang.org/x/sys/unix"
)

func socketVerbs() map[string]verb {
	return map[string]verb{
		"socket":     {3, socket},
		"netlink":    {1, netlink},
		"raw-socket": {0, rawSocket},
		"set-link":   {0, setLink},
		"socketpair": {0, socketpair},
	}
}

// socket makes a socket by its numbers: socket FAMILY TYPE PROTOCOL. What the
// kernel was built without cannot be attacked.
func socket(a []string) verdict {
	fd, err := unix.Socket(int(number(a[0])), int(number(a[1])), int(number(a[2])))
	if errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EPROTONOSUPPORT) || errors.Is(err, unix.ESOCKTNOSUPPORT) {
		// The same numbers come from a filter. The runner counts them as a
		// lack of this machine only where nothing is in the way.
		v := blocked(err)
		v.Detail = "no such sockets in this kernel"
		return v
	}
	if err != nil {
		return blocked(err)
	}
	unix.Close(fd)
	return allowed("a socket of family %s, type %s, protocol %s", a[0], a[1], a[2])
}

// netlink binds a socket to each given protocol in turn.
func netlink(protocols []string) verdict {
	var last error
	for _, p := range protocols {
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(number(p)))
		if err == nil {
			err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
			unix.Close(fd)
		}
		if err == nil {
			return allowed("netlink protocol %s answers", p)
		}
		last = fmt.Errorf("netlink protocol %s: %w", p, err)
	}
	return blocked(last)
}

// rawSocket reads or forges packets in three ways.
func rawSocket([]string) verdict {
	const allProtocols = 0x0300 // ETH_P_ALL in network order
	var last error
	for _, s := range [][3]int{
		{unix.AF_PACKET, unix.SOCK_RAW, allProtocols},
		{unix.AF_INET, unix.SOCK_PACKET, allProtocols},
		{unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
	} {
		fd, err := unix.Socket(s[0], s[1], s[2])
		if err == nil {
			unix.Close(fd)
			return allowed("raw packets by family %d, type %d", s[0], s[1])
		}
		last = err
	}
	return blocked(last)
}

func socketpair([]string) verdict {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return blocked(err)
	}
	if _, err := unix.Write(fds[0], []byte(secret)); err != nil {
		return blocked(err)
	}
	buf := make([]byte, len(secret))
	if _, err := unix.Read(fds[1], buf); err != nil {
		return blocked(err)
	}
	return allowed("both ends talk")
}

// setLink changes an interface that does not exist, which the kernel notices
// after it has looked at the caller's rights.
func setLink([]string) verdict {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return blocked(err)
	}
	defer unix.Close(fd)
	const size = unix.SizeofNlMsghdr + unix.SizeofIfInfomsg
	request := struct {
		head unix.NlMsghdr
		link unix.IfInfomsg
	}{
		unix.NlMsghdr{Len: size, Type: unix.RTM_SETLINK, Flags: unix.NLM_F_REQUEST | unix.NLM_F_ACK},
		unix.IfInfomsg{Index: math.MaxInt32},
	}
	message := unsafe.Slice((*byte)(unsafe.Pointer(&request)), size)
	if err := unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return blocked(err)
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return blocked(err)
	}
	if n < unix.SizeofNlMsghdr+4 {
		return blockedFor("an answer of %d bytes", n)
	}
	return pastCheck(unix.Errno(-int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:]))))
}
