package landlock

import (
	"os"

	"golang.org/x/sys/unix"
)

// outsideProbes reach for processes, sockets and devices.
var outsideProbes = []probe{
	{name: "signal a process outside", want: unix.EPERM, gap: GapScopeSignal, do: func(w world) error {
		return unix.Kill(w.Target, 0)
	}},
	{name: "signal itself", do: func(world) error { return unix.Kill(os.Getpid(), 0) }},
	{name: "connect to an abstract socket outside", want: unix.EPERM, gap: GapScopeAbstract, do: func(w world) error {
		return connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: w.Abstract})
	}},
	{name: "connect to a socket file outside", want: unix.EACCES, gap: GapUnixConnect, do: func(w world) error {
		return connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, &unix.SockaddrUnix{Name: w.Pathname})
	}},
	{name: "connect to a socket of its own", do: func(w world) error {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		own := &unix.SockaddrUnix{Name: w.Tree + "/rw/own"}
		defer os.Remove(own.Name)
		if err := unix.Bind(fd, own); err != nil {
			return err
		}
		if err := unix.Listen(fd, 1); err != nil {
			return err
		}
		return connect(unix.AF_UNIX, unix.SOCK_STREAM, 0, own)
	}},
	{name: "connect by TCP", want: unix.EACCES, gap: GapTCP, do: func(w world) error {
		return connect(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_TCP, loopback(w.TCP))
	}},
	{name: "connect by Multipath TCP", want: unix.EACCES, gap: GapMPTCP, do: func(w world) error {
		return connect(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, loopback(w.TCP))
	}},
	{name: "bind a TCP port", want: unix.EACCES, gap: GapTCP, do: func(world) error {
		return bind(unix.SOCK_STREAM)
	}},
	{name: "connect by UDP", want: unix.EACCES, gap: GapUDP, do: func(w world) error {
		return connect(unix.AF_INET, unix.SOCK_DGRAM, 0, loopback(w.UDP))
	}},
	{name: "bind a UDP port", want: unix.EACCES, gap: GapUDP, do: func(world) error {
		return bind(unix.SOCK_DGRAM)
	}},
}

func loopback(port uint16) unix.Sockaddr {
	return &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}
}

func connect(family, kind, protocol int, to unix.Sockaddr) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, to)
}

func bind(kind int) error {
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Bind(fd, loopback(0))
}

// terminalRequest opens a new pty and asks for its number, which is an ioctl
// beyond those that are always allowed.
func terminalRequest() error {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
	return err
}
