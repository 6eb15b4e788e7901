//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Descriptors that somebody left open for us may have any number.
const (
	firstLeak = 3
	lastLeak  = 255
)

var errNoLeak = errors.New("no descriptor was left open")

func descriptorVerbs() map[string]verb {
	return map[string]verb{
		"leaked-directory-read":   {1, leakedRead},
		"leaked-directory-create": {1, leakedCreate},
		"leaked-file-write":       {0, leakedWrite},
		"leaked-any":              {0, leakedAny},
		"leaked-socket":           {0, leakedSocket},
		"stdin-directory":         {1, func(a []string) verdict { return readAt(0, a[0]) }},
		"reopen":                  {1, reopen},
		"received-descriptor":     {0, receivedDescriptor},
	}
}

// leakedAny looks for any descriptor beside the standard streams. The Go
// runtime opens none before it waits for a file or a timer.
func leakedAny([]string) verdict {
	for fd := firstLeak; fd <= lastLeak; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			target, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
			return allowed("descriptor %d is %s", fd, target)
		}
	}
	return blocked(errNoLeak)
}

// throughLeaks tries each inherited descriptor of a type.
func throughLeaks(kind uint32, try func(fd int) verdict) verdict {
	last := blocked(errNoLeak)
	for fd := firstLeak; fd <= lastLeak; fd++ {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != kind {
			continue
		}
		last = try(fd)
		if last.Verdict == "allowed" {
			return last
		}
	}
	return last
}

func leakedRead(a []string) verdict {
	return throughLeaks(unix.S_IFDIR, func(fd int) verdict { return readAt(fd, a[0]) })
}

func readAt(dir int, name string) verdict {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return blocked(err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return findSecret(f)
}

func leakedCreate(a []string) verdict {
	return throughLeaks(unix.S_IFDIR, func(dir int) verdict {
		fd, err := unix.Openat(dir, a[0], unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
		if err != nil {
			return blocked(err)
		}
		return outcome(unix.Close(fd), "made")
	})
}

func leakedWrite([]string) verdict {
	return throughLeaks(unix.S_IFREG, func(fd int) verdict {
		_, err := unix.Pwrite(fd, []byte(planted), 0)
		return outcome(err, fmt.Sprintf("written through descriptor %d", fd))
	})
}

func leakedSocket([]string) verdict {
	return throughLeaks(unix.S_IFSOCK, askSocket)
}

// askSocket says hello on a connected socket and waits a little for the
// secret.
func askSocket(fd int) verdict {
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 300_000}); err != nil {
		return blocked(err)
	}
	if _, err := unix.Write(fd, []byte("hello\n")); err != nil {
		return blocked(err)
	}
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return blocked(err)
	}
	if !strings.Contains(string(buf[:n]), secret) {
		return blockedFor("an answer without the secret")
	}
	return allowed("the host has answered")
}

// reopen opens the file behind a standard stream anew, with rights that the
// stream does not have, and empties it.
func reopen(a []string) verdict {
	fd, err := unix.Open("/proc/self/fd/"+a[0], unix.O_WRONLY|unix.O_TRUNC|unix.O_CLOEXEC, 0)
	if err != nil {
		return blocked(err)
	}
	_, err = unix.Write(fd, []byte(planted+"\n"))
	return outcome(errors.Join(err, unix.Close(fd)), "emptied and written")
}

// receivedDescriptor takes a descriptor that somebody outside sends over the
// socket on stdin.
func receivedDescriptor([]string) verdict {
	buf, oob := make([]byte, 16), make([]byte, unix.CmsgSpace(4))
	_, oobn, _, _, err := unix.Recvmsg(0, buf, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return blocked(err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(messages) == 0 {
		return blockedFor("no descriptor came with the message")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return blockedFor("no descriptor came with the message")
	}
	f := os.NewFile(uintptr(fds[0]), "received")
	defer f.Close()
	return findSecret(f)
}
