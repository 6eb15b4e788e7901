package stage

import (
	"errors"
	"strconv"
	"strings"
)

// Arg is the argument by which a program is entered as the builder.
const Arg = "sbx-stage"

// Op is what a Step puts at its path.
type Op byte

// The operations.
const (
	ShowRO   Op = 'r' // the host's file or directory, read-only
	ShowRW   Op = 'w' // the host's file or directory, writable
	Tmpfs    Op = 't' // an empty writable directory in memory
	MaskDir  Op = 'd' // an empty read-only directory
	MaskFile Op = 'f' // an empty read-only file
	Copy     Op = 'c' // a read-only copy of a small file
	Symlink  Op = 'l' // a symbolic link
	PinLink  Op = 'p' // a symbolic link of the host, mounted onto itself
)

// Step is one mount of the trees.
type Step struct {
	Op     Op
	Path   string
	In     string   // the Tmpfs in which the mount point is made, "/" outside of all mounts; empty if it is there
	Dir    bool     // what is shown is a directory
	Target string   // text of a Symlink or PinLink
	Size   int64    // bytes a Tmpfs may hold; 0 is half of the memory
	Source int      // index of a Copy's source in the files given to Start
	Shown  Identity // of what ShowRO, ShowRW and PinLink are to show
	Far    bool     // nobody in the sandbox can look it up: Attach verifies it, the builder is not told
}

// Identity tells a file from all others.
type Identity struct {
	Dev, Ino uint64
	Born     int64 // nanoseconds; tells a later file with the same number. 0 where a file system does not know
}

// Orders are what a builder does.
type Orders struct {
	Points []string // directories of which the first that is there is built under
	Root   Identity // of the host's root, if the trees lie in that; else zero
	Steps  []Step   // parents before children
	Sites  []string // whose trees are sent back, in this order
}

// The orders travel as texts with a NUL between them: paths have none.

func (o Orders) encode() []byte {
	f := []string{number(len(o.Points)), number(len(o.Sites))}
	f = append(append(append(f, o.Points...), o.Sites...), o.Root.texts()...)
	for _, s := range o.Steps {
		f = append(f, string(s.Op)+mark(s.Dir), s.Path, s.In, s.Target, number(s.Size), number(s.Source))
		f = append(f, s.Shown.texts()...)
	}
	return []byte(strings.Join(f, "\x00"))
}

func (i Identity) texts() []string { return []string{number(i.Dev), number(i.Ino), number(i.Born)} }

func number[T int | int64 | uint64](n T) string { return strconv.FormatInt(int64(n), 10) }

func mark(is bool) string {
	if is {
		return "+"
	}
	return "-"
}

// far returns the steps that are verified from here.
func (o Orders) far() (steps []Step) {
	for _, s := range o.Steps {
		if s.Far {
			steps = append(steps, s)
		}
	}
	return steps
}

var errOrders = errors.New("orders are damaged")

// How many texts an identity and a step take.
const (
	identityFields = 3
	stepFields     = 6 + identityFields
)

func decode(b []byte) (Orders, error) {
	r := reader{rest: strings.Split(string(b), "\x00")}
	points, sites := r.number(), r.number()
	o := Orders{Points: r.texts(points), Sites: r.texts(sites), Root: r.identity()}
	if len(r.rest)%stepFields != 0 {
		return Orders{}, errOrders
	}
	o.Steps = make([]Step, 0, len(r.rest)/stepFields)
	for len(r.rest) > 0 {
		s := Step{}
		if op := r.text(); len(op) == 2 {
			s.Op, s.Dir = Op(op[0]), op[1] == '+'
		} else {
			r.damaged = true
		}
		s.Path, s.In, s.Target = r.text(), r.text(), r.text()
		s.Size, s.Source, s.Shown = r.number(), int(r.number()), r.identity()
		o.Steps = append(o.Steps, s)
	}
	if r.damaged {
		return Orders{}, errOrders
	}
	return o, nil
}

// reader takes texts from the front.
type reader struct {
	rest    []string
	damaged bool
}

func (r *reader) texts(n int64) []string {
	if n < 0 || n > int64(len(r.rest)) {
		r.damaged = true
		return nil
	}
	texts := r.rest[:n:n]
	r.rest = r.rest[n:]
	return texts
}

func (r *reader) text() string {
	if t := r.texts(1); len(t) == 1 {
		return t[0]
	}
	return ""
}

func (r *reader) number() int64 {
	n, err := strconv.ParseInt(r.text(), 10, 64)
	r.damaged = r.damaged || err != nil
	return n
}

func (r *reader) identity() Identity {
	return Identity{Dev: uint64(r.number()), Ino: uint64(r.number()), Born: r.number()}
}
