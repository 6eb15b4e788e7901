package stage

import (
	"errors"
	"slices"
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
)

// Step is one mount of the trees.
type Step struct {
	Op     Op
	Path   string
	In     string // the Tmpfs in which the mount point is made, "/" outside of all mounts; empty if it is there
	Dir    bool   // what is shown is a directory
	Target string // text of a Symlink
	Size   int64  // bytes a Tmpfs may hold; 0 is half of the memory
	Source int    // index in the files given to Start, for ShowRO, ShowRW and Copy
}

// Orders are what a builder does.
type Orders struct {
	Points []string // directories of which the first that is there is built under
	Root   int      // index of the host's root in the files, if the trees lie in that; -1
	Steps  []Step   // parents before children
	Sites  []string // whose trees are sent back, in this order
}

// The orders travel as texts with a NUL between them: paths have none.

func (o Orders) encode() []byte {
	f := []string{strconv.Itoa(o.Root), strconv.Itoa(len(o.Points)), strconv.Itoa(len(o.Sites))}
	f = append(append(f, o.Points...), o.Sites...)
	for _, s := range o.Steps {
		f = append(f, string(s.Op)+mark(s.Dir), s.Path, s.In, s.Target, strconv.FormatInt(s.Size, 10), strconv.Itoa(s.Source))
	}
	return []byte(strings.Join(f, "\x00"))
}

func mark(is bool) string {
	if is {
		return "+"
	}
	return "-"
}

var errOrders = errors.New("orders are damaged")

// stepFields is how many texts a step takes.
const stepFields = 6

func decode(b []byte) (Orders, error) {
	f := strings.Split(string(b), "\x00")
	if len(f) < 3 {
		return Orders{}, errOrders
	}
	root, err := strconv.Atoi(f[0])
	points, perr := strconv.Atoi(f[1])
	sites, serr := strconv.Atoi(f[2])
	f = f[3:]
	if errors.Join(err, perr, serr) != nil || points < 0 || sites < 0 || points > len(f) || sites > len(f)-points {
		return Orders{}, errOrders
	}
	o := Orders{Root: root, Points: f[:points], Sites: f[points : points+sites]}
	steps := f[points+sites:]
	if len(steps)%stepFields != 0 {
		return Orders{}, errOrders
	}
	o.Steps = make([]Step, 0, len(steps)/stepFields)
	for s := range slices.Chunk(steps, stepFields) {
		size, err := strconv.ParseInt(s[4], 10, 64)
		source, serr := strconv.Atoi(s[5])
		if errors.Join(err, serr) != nil || len(s[0]) != 2 {
			return Orders{}, errOrders
		}
		o.Steps = append(o.Steps, Step{Op: Op(s[0][0]), Dir: s[0][1] == '+',
			Path: s[1], In: s[2], Target: s[3], Size: size, Source: source})
	}
	return o, nil
}
