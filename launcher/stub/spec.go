package stub

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/platform/seccomp"
)

// Arg is the argument by which a program is entered as the stub.
const Arg = "sbx-stub"

// SocketFD is the descriptor of the stream to the launcher.
const SocketFD = 3

// Raw is a string of arbitrary bytes: paths, arguments and variables need not
// be UTF-8, which JSON strings must be.
type Raw []byte

// Spec is everything that the stub does.
type Spec struct {
	Mounts []Check `json:",omitempty"`
	Dir    Raw     // working directory of the command
	Argv   []Raw
	Env    []Raw
	Path   []Raw    // directories in which Argv[0] is looked up when it has no slash
	Stderr int      // descriptor that becomes 2; 0 leaves it
	Limits []Rlimit `json:",omitempty"`

	Filter   seccomp.Config // the system call filter; always installed
	Landlock *Landlock      `json:",omitempty"`
}

// Landlock is a landlock.Ruleset in a form that carries any path.
type Landlock struct {
	Files  bool
	Scope  landlock.Scope
	Grants []Grant
}

// Grant is one rule. FD, if not 0, is the open file itself, and Path only its
// name in errors.
type Grant struct {
	Path   Raw
	FD     int
	Access landlock.Access
}

// Rlimit is one setrlimit(2) with soft and hard limit equal.
type Rlimit struct {
	Resource int
	Value    uint64
}

// Want says what a Check expects at its path.
type Want uint8

// The expectations. HostRO and HostRW name the exact inode; the others a file
// system of the sandbox's own.
const (
	HostRO Want = iota
	HostRW
	EmptyDir  // read-only, nothing below it counts
	EmptyFile // read-only, size 0
	OwnRW     // writable file system of the sandbox
	OwnRO     // read-only file system of the sandbox
)

// Check is one mount that must stand before the command may run.
type Check struct {
	Path Raw
	Want Want
	Dev  uint64 // of the descriptor that the launcher opened, for HostRO and HostRW
	Ino  uint64
}

// Stage names the step at which a Failure happened.
type Stage string

// The stages, in order.
const (
	StageVerify   Stage = "verify"
	StageChdir    Stage = "chdir"
	StageLimits   Stage = "limits"
	StageLandlock Stage = "landlock"
	StageSeccomp  Stage = "seccomp"
	StageLookup   Stage = "lookup"
	StageExec     Stage = "exec"
)

// Failure is why the command does not run.
type Failure struct {
	Stage Stage
	Path  Raw // file or mount concerned
	Errno int // 0 if no system call failed
	Text  string
}

func (f *Failure) Error() string {
	if len(f.Path) > 0 {
		return fmt.Sprintf("%s: %s: %s", f.Stage, f.Path, f.Text)
	}
	return fmt.Sprintf("%s: %s", f.Stage, f.Text)
}

// Message is one record from the stub: exactly one field is set.
type Message struct {
	Hello   bool     `json:",omitempty"`
	Ready   bool     `json:",omitempty"`
	Failure *Failure `json:",omitempty"`
}

// maxRecord bounds a record. A spec carries one check for each mount, of
// which bubblewrap takes a few thousand, and at most a few MiB of arguments.
const maxRecord = 64 << 20

// WriteRecord sends v with its length in front.
func WriteRecord(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	_, err = w.Write(append(head, body...))
	return err
}

// ReadRecord reads one record into v. The end of the stream before a record
// is io.EOF.
func ReadRecord(r *bufio.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxRecord {
		return errors.New("record too long")
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}

// Raws converts strings for a Spec.
func Raws(items []string) []Raw {
	raws := make([]Raw, len(items))
	for i, s := range items {
		raws[i] = Raw(s)
	}
	return raws
}

func stringsOf(raws []Raw) []string {
	items := make([]string, len(raws))
	for i, r := range raws {
		items[i] = string(r)
	}
	return items
}
