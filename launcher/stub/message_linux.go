package stub

import (
	"errors"
	"fmt"
	"io"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/platform/script"
	"github.com/sbx-run/sbx/platform/seccomp"
)

// Stage names the step at which a Failure happened.
type Stage string

// The stages, in order.
const (
	StageVerify      Stage = "verify"
	StageChdir       Stage = "chdir"
	StageDescriptors Stage = "descriptors"
	StageLookup      Stage = "lookup"
	StageSignals     Stage = "signals"
	StagePrivileges  Stage = "privileges"
	StageLandlock    Stage = landlock.Stage
	StageReady       Stage = "ready"
	StageSeccomp     Stage = seccomp.Stage
	StageLimits      Stage = "limits"
	StageExec        Stage = "exec"
)

// Failure is why the command does not run.
type Failure struct {
	Stage Stage
	Path  string // file or mount concerned
	Errno int    // 0 if no system call failed
	Text  string
}

func (f *Failure) Error() string {
	if f.Path != "" {
		return fmt.Sprintf("%s: %s: %s", f.Stage, f.Path, f.Text)
	}
	return fmt.Sprintf("%s: %s", f.Stage, f.Text)
}

// The records from the stub begin with their kind, in the order in which they
// come.
const (
	hello  = 'h' // the stub runs and waits for its orders
	ready  = 'r' // everything but the filter stands; execve is next
	failed = 'f' // instead, or after ready; the failure follows
)

// letGo is what the launcher says after the orders, once the stub is in hand.
const letGo = 'g'

// LetGo lets a stub go on that has its orders. One that is gone already has
// said why: see [Orders.Await].
func LetGo(w io.Writer) error {
	if _, err := w.Write([]byte{letGo}); !errors.Is(err, unix.EPIPE) {
		return err
	}
	return nil
}

// record is what the stub says. All but a failure is the first byte alone.
type record struct {
	kind    byte
	failure script.Failure
}

// ErrGone says that the stub ended before it became the command, and not by
// itself.
var ErrGone = errors.New("the stub ended before it became the command")

// Await reads what the stub says to its orders, from the launcher's end of the
// stream. It returns nil once the command runs, and a *[Failure] if it will not.
func (o Orders) Await(r io.Reader) error {
	isReady := false
	for {
		var said record
		raw := unsafe.Slice((*byte)(unsafe.Pointer(&said)), unsafe.Sizeof(said))
		_, err := io.ReadFull(r, raw[:1])
		switch {
		case (errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET)) && isReady:
			return nil // the socket closed on exec
		case errors.Is(err, io.EOF), errors.Is(err, unix.ECONNRESET):
			return ErrGone
		case err != nil:
			return err
		case said.kind == ready:
			isReady = true
		case said.kind == failed:
			if _, err := io.ReadFull(r, raw[1:]); err != nil {
				return ErrGone
			}
			return o.failure(said.failure)
		}
	}
}

// failure words what the stub can only number.
func (o Orders) failure(f script.Failure) *Failure {
	note := o.script.Note(f)
	worded := &Failure{Stage: Stage(note.Stage), Path: note.Path, Errno: int(f.Errno), Text: note.Text}
	if worded.Path == "" && worded.Stage == StageExec {
		worded.Path = o.script.TextAt(f.Subject)
	}
	switch {
	case f.Errno != 0 && note.Text == "":
		worded.Text = unix.Errno(f.Errno).Error()
	case worded.Stage == StageLookup: // the text is the error's own
	case f.Errno != 0:
		worded.Text += ": " + unix.Errno(f.Errno).Error()
	}
	return worded
}
