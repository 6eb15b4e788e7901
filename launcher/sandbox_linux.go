package launcher

import (
	"bufio"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/bwrap"
)

// sandbox is a started backend with a stub in it.
type sandbox struct {
	pid     int // our child: bubblewrap, or the stub itself
	pidfd   int
	socket  *os.File      // to the stub
	reader  *bufio.Reader // on socket
	said    *tail         // what the backend wrote on its own stderr
	drained sync.WaitGroup
	init    int // pidfd of process 1 of the sandbox; -1 if there is none

	direct  bool   // the child becomes the command, so its status is the command's
	cleanup func() // removes what the run made; nil for nothing

	status    bwrap.Status
	statusErr error
	ended     *unix.WaitStatus
}

func newSandbox(socket *os.File) *sandbox {
	return &sandbox{socket: socket, reader: bufio.NewReader(socket), said: &tail{}, init: -1}
}

// holdInit keeps process 1 of the sandbox in hand, to see its end. If it is
// gone already there is nothing to wait for.
func (s *sandbox) holdInit(pid int) {
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		s.init = fd
	}
}

func (s *sandbox) close() {
	s.socket.Close()
	unix.Close(s.pidfd)
	if s.cleanup != nil {
		s.cleanup()
	}
}
