package launcher

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/launcher/stage"
)

// sandbox is a started backend with a stub in it.
type sandbox struct {
	pid    int // our child: bubblewrap, or the stub itself
	pidfd  int
	socket *os.File // to the stub
	init   int      // pidfd of process 1 of the sandbox; -1 if there is none

	said *os.File // bubblewrap's own stderr; nil without it

	direct  bool   // the child becomes the command, so its status is the command's
	free    bool   // the stub has been let go
	cleanup func() // removes what the run made; nil for nothing

	first    int                 // process 1 of the sandbox; 0 if there is none
	reaps    bool                // what the command leaves behind comes to us
	builder  *stage.Builder      // makes mounts that are attached before the stub goes on; nil for none
	place    *scratch            // stands for /tmp and the home; nil where mounts do
	terminal *terminal           // nil without one
	bounds   *bounds             // keeps the limits
	admit    func(pid int) error // puts the command where its limits hold, before it is let go
	signals  <-chan os.Signal    // for the command; nil for none

	ended *unix.WaitStatus // of our child
}

func newSandbox(socket *os.File) *sandbox {
	return &sandbox{socket: socket, init: -1}
}

// holdInit keeps process 1 of the sandbox in hand, to end it and to see its
// end. It is the parent of the stub, which waits to be let go meanwhile.
func (s *sandbox) holdInit(stub int) {
	if s.direct {
		return
	}
	first := parentOf(stub)
	if fd, err := unix.PidfdOpen(first, 0); err == nil {
		s.first, s.init = first, fd
	}
}

// releaseInit lets go of a process that may not be ours.
func (s *sandbox) releaseInit() {
	if s.init >= 0 {
		unix.Close(s.init)
	}
	s.first, s.init = 0, -1
}

// lastWords ends process 1, which bubblewrap's death may have missed, and
// reads what bubblewrap complained about. The pipe ends with process 1.
func (s *sandbox) lastWords() (reason string) {
	if s.said == nil {
		return ""
	}
	kill(s.init, unix.SIGKILL)
	return firstLine(s.said)
}

func (s *sandbox) close() {
	s.builder.Close()
	s.terminal.giveBack(false)
	closeAll([]*os.File{s.socket, s.said})
	unix.Close(s.pidfd)
	if s.cleanup != nil {
		s.cleanup()
	}
}
