package stub

import (
	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/platform/seccomp"
)

// Arg is the argument by which a program is entered as the stub.
const Arg = "sbx-stub"

// SocketFD is the descriptor of the stream to the launcher.
const SocketFD = 3

// Spec is everything that the stub does.
type Spec struct {
	Mounts   []Check
	Dir      string // working directory of the command
	Argv     []string
	Env      []string
	Path     []string // directories in which Argv[0] is looked up when it has no slash
	Stderr   int      // descriptor that becomes 2; 0 leaves it
	Limits   []Rlimit
	Filter   seccomp.Config   // the system call filter; always installed
	Landlock landlock.Ruleset // the zero value is none
}

func (s *Spec) code(c *coder) {
	list(c, &s.Mounts, (*coder).check)
	c.text(&s.Dir)
	texts(c, &s.Argv)
	texts(c, &s.Env)
	texts(c, &s.Path)
	integer(c, &s.Stderr)
	list(c, &s.Limits, (*coder).rlimit)
	c.filter(&s.Filter)
	c.ruleset(&s.Landlock)
}

func (c *coder) filter(f *seccomp.Config) {
	integer(c, &f.Arch)
	integer(c, &f.Network)
	flag(c, &f.UnixSockets)
	flag(c, &f.Debug)
	flag(c, &f.Namespaced)
}

// ruleset codes what sbx uses of a ruleset: ports are the filter's matter.
func (c *coder) ruleset(r *landlock.Ruleset) {
	flag(c, &r.Files)
	integer(c, &r.Scope)
	list(c, &r.Grants, (*coder).grant)
}

func (c *coder) grant(g *landlock.Grant) {
	c.text(&g.Path)
	integer(c, &g.FD)
	integer(c, &g.Access)
}

// Rlimit is one setrlimit(2): Value is the soft limit, Margin what the hard
// one is above it.
type Rlimit struct {
	Resource int
	Value    uint64
	Margin   uint64
}

func (c *coder) rlimit(l *Rlimit) {
	integer(c, &l.Resource)
	c.number(&l.Value)
	c.number(&l.Margin)
}

// Want says what a Check expects at its path.
type Want uint8

// The expectations. HostRO and HostRW name the exact inode; the others a file
// system of the sandbox's own.
const (
	HostRO    Want = iota
	HostRW         //
	EmptyDir       // read-only or without write permission, nothing below it counts
	EmptyFile      // read-only, size 0
	OwnRW          // writable file system of the sandbox
	OwnRO          // read-only file system of the sandbox
)

// Check is one mount that must stand before the command may run.
type Check struct {
	Path string
	Want Want
	Dev  uint64 // of the descriptor that the launcher opened, for HostRO and HostRW
	Ino  uint64
}

func (c *coder) check(m *Check) {
	c.text(&m.Path)
	integer(c, &m.Want)
	c.number(&m.Dev)
	c.number(&m.Ino)
}
