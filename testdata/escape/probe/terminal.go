//go:build linux

package main

import (
	"bytes"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func terminalVerbs() map[string]verb {
	return map[string]verb{
		"type":       {0, func([]string) verdict { return typeInto(unix.TIOCSTI) }},
		"type-high":  {0, func([]string) verdict { return typeInto(unix.TIOCSTI | 1<<32) }},
		"paste":      {0, paste},
		"terminal":   {0, openTerminal},
		"escape-out": {0, escapeOut},

		"other-terminal": {1, otherTerminal},
	}
}

// typeInto puts a character into the input of whatever terminal is at hand,
// where the shell would read it after this run.
func typeInto(request uint64) verdict {
	last := blockedFor("no terminal at hand")
	for fd := 0; fd <= 2; fd++ {
		if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
			continue
		}
		character := byte('x')
		err := sys(unix.SYS_IOCTL, uintptr(fd), uintptr(request), pointer(&character))
		if err == nil {
			return allowed("a character was typed")
		}
		last = blocked(err)
		if setting, _ := os.ReadFile("/proc/sys/dev/tty/legacy_tiocsti"); err == unix.EIO && strings.TrimSpace(string(setting)) == "0" {
			return notApplicable("dev.tty.legacy_tiocsti is 0")
		}
	}
	return last
}

// paste asks a virtual console for its shift state (TIOCLINUX, subcode 6):
// the harmless member of the family that pastes the selection.
func paste([]string) verdict {
	subcode := byte(6)
	return outcome(sys(unix.SYS_IOCTL, 0, unix.TIOCLINUX, pointer(&subcode)), "the console answers")
}

func openTerminal([]string) verdict {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return blocked(err)
	}
	unix.Close(fd)
	return allowed("the controlling terminal opens")
}

// escapeOut writes the sequence that sets a terminal's title (OSC 2).
func escapeOut([]string) verdict {
	_, err := unix.Write(1, []byte("\x1b]2;"+planted+"\x07\n"))
	return outcome(err, "sent")
}

// otherTerminal reads what is typed into a terminal that is not ours, where
// the host types the secret, and so takes it away from whom it is meant for.
func otherTerminal(a []string) verdict {
	fd, err := unix.Open(a[0], unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return blocked(err)
	}
	defer unix.Close(fd)
	buf := make([]byte, 256)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return blocked(err)
	}
	return findSecret(bytes.NewReader(buf[:n]))
}
