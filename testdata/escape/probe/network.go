//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long an answer may take. Listeners of the runner answer at
// once.
const patience = 400 * time.Millisecond

func networkVerbs() map[string]verb {
	return map[string]verb{
		"tcp":      {1, func(a []string) verdict { return callTCP(a[0]) }},
		"udp":      {1, func(a []string) verdict { return ask("udp", a[0], []byte("hello\n")) }},
		"dns":      {1, func(a []string) verdict { return ask("udp", a[0], query("data.leaks.example")) }},
		"unix":     {1, func(a []string) verdict { return ask("unix", a[0], []byte("hello\n")) }},
		"fastopen": {1, fastOpen},
		"listen":   {1, listen},
		"agent":    {1, agent},
		"post":     {1, postDatagram},
	}
}

func callTCP(addr string) verdict { return ask("tcp", addr, []byte("hello\n")) }

// ask sends one message and waits for an answer that holds the secret.
func ask(network, addr string, message []byte) verdict {
	c, err := net.DialTimeout(network, addr, patience)
	if err != nil {
		return blocked(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write(message); err != nil {
		return blocked(err)
	}
	return hear(c)
}

func hear(r io.Reader) verdict {
	buf := make([]byte, 4096)
	n, err := r.Read(buf)
	if strings.Contains(string(buf[:n]), secret) {
		return allowed("the host has answered")
	}
	if err != nil {
		return blocked(err)
	}
	return blockedFor("an answer without the secret")
}

// query is a DNS question for the address of a name, which is where
// exfiltrated data would be.
func query(name string) []byte {
	packet := []byte{0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	for label := range strings.SplitSeq(name, ".") {
		packet = append(append(packet, byte(len(label))), label...)
	}
	return append(packet, 0, 0, 1, 0, 1)
}

// fastOpen connects by sending: TCP Fast Open goes past checks that look at
// connect(2) alone.
func fastOpen(a []string) verdict {
	target, err := netip.ParseAddrPort(a[0])
	if err != nil {
		return blocked(err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return blocked(err)
	}
	f := os.NewFile(uintptr(fd), "fast open")
	defer f.Close()
	to := &unix.SockaddrInet4{Port: int(target.Port()), Addr: target.Addr().As4()}
	if err := unix.Sendto(fd, []byte("hello\n"), unix.MSG_FASTOPEN, to); err != nil {
		return blocked(err)
	}
	return askSocket(fd)
}

// listen waits for the host to call a port and say the secret.
func listen(a []string) verdict {
	l, err := net.Listen("tcp4", "127.0.0.1:"+a[0])
	if err != nil {
		return blocked(err)
	}
	defer l.Close()
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	c, err := l.Accept()
	if err != nil {
		return blockedFor("nobody has called")
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	return hear(c)
}

// agent asks a key agent for its identities (SSH_AGENTC_REQUEST_IDENTITIES,
// answered by 12), at the address in the environment and at a known one.
func agent(a []string) verdict {
	last := verdict{}
	for _, path := range []string{os.Getenv("SSH_AUTH_SOCK"), a[0]} {
		if path == "" {
			continue
		}
		c, err := net.DialTimeout("unix", path, patience)
		if err != nil {
			last = blocked(err)
			continue
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		if _, err := c.Write([]byte{0, 0, 0, 1, 11}); err != nil {
			last = blocked(err)
			continue
		}
		answer := make([]byte, 5)
		if _, err := io.ReadFull(c, answer); err != nil {
			last = blocked(err)
			continue
		}
		if answer[4] == 12 {
			return allowed("the agent lists its keys")
		}
	}
	return last
}

// postDatagram sends to a socket file from one end of a datagram pair, for
// which no call to socket(2) is needed. There is no way back: the host tells
// whether it came.
func postDatagram(a []string) verdict {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return blocked(err)
	}
	err = unix.Sendto(fds[0], []byte(planted), 0, &unix.SockaddrUnix{Name: a[0]})
	return outcome(err, fmt.Sprintf("sent to %s", a[0]))
}
