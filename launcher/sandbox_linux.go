package launcher

import (
	"bufio"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/launcher/stage"
)

// sandbox is a started backend with a stub in it.
type sandbox struct {
	pid    int // our child: bubblewrap, or the stub itself
	pidfd  int
	socket *os.File      // to the stub
	reader *bufio.Reader // on socket
	init   int           // pidfd of process 1 of the sandbox; -1 if there is none

	// What bubblewrap writes, on its own stderr and as status. Both are few
	// words that fit into a pipe, so they are read when they are needed.
	said, statusFile *os.File
	statuses         *bufio.Reader // on statusFile

	direct  bool   // the child becomes the command, so its status is the command's
	cleanup func() // removes what the run made; nil for nothing

	first    int                 // process 1 of the sandbox; 0 if there is none
	reaps    bool                // what the command leaves behind comes to us
	builder  *stage.Builder      // makes mounts that are attached before the stub goes on; nil for none
	place    *scratch            // stands for /tmp and the home; nil where mounts do
	terminal *terminal           // nil without one
	bounds   *bounds             // keeps the limits
	admit    func(pid int) error // puts the command where its limits hold, before it has its orders

	status bwrap.Status
	ended  *unix.WaitStatus
}

func newSandbox(socket *os.File) *sandbox {
	return &sandbox{socket: socket, reader: bufio.NewReader(socket), init: -1}
}

// holdInit keeps process 1 of the sandbox in hand, to see its end. bubblewrap
// named it before the stub could run. If it is gone already there is nothing
// to wait for.
func (s *sandbox) holdInit() {
	if s.statusFile == nil {
		return
	}
	first, err := bwrap.ReadStarted(s.statuses)
	if err != nil {
		return
	}
	if fd, err := unix.PidfdOpen(first, 0); err == nil {
		s.first, s.init = first, fd
	}
}

// lastWords reads what bubblewrap left: its exit record, and on a failure its
// reason. Both pipes end with process 1.
func (s *sandbox) lastWords() (reason string) {
	if s.statusFile == nil {
		return ""
	}
	s.status, _ = bwrap.ReadExit(s.statuses) // cut off if bubblewrap was killed, which Exited tells
	return firstLine(s.said)
}

func (s *sandbox) close() {
	s.builder.Close()
	s.terminal.giveBack(false)
	closeAll([]*os.File{s.socket, s.said, s.statusFile})
	unix.Close(s.pidfd)
	if s.cleanup != nil {
		s.cleanup()
	}
}
