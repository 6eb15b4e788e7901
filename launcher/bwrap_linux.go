package launcher

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/launcher/stub"
	"github.com/sbx-run/sbx/platform"
)

// Descriptors of the backend process, in the order of its file list.
const (
	socketFD = stub.SocketFD
	argsFD   = iota + socketFD
	exeFD
	stderrFD
	firstSourceFD
)

// startBwrap starts bubblewrap with an empty environment. Its stderr is a
// pipe of ours, so that its words are never mixed with the command's; the
// stub puts the command's own stderr in place.
func startBwrap(plan platform.Plan, cmd Command) (*sandbox, stub.Spec, error) {
	opened, staged, builder, err := openOrStage(plan.Layout)
	if err != nil {
		return nil, stub.Spec{}, err
	}
	defer opened.Close()
	s, orders, err := startBwrapPart(plan, cmd, opened, staged)
	if err != nil {
		builder.Close()
		return nil, stub.Spec{}, err
	}
	s.builder = builder
	return s, orders, nil
}

// startBwrapPart starts bubblewrap for all that is not staged.
//
// bubblewrap must not die between making its child and letting it go: the
// child would wait for ever, with nobody left to tell. So nothing of ours kills
// it: if we are killed early, it goes on until its stub finds our socket
// closed, and later it dies with us by itself (--die-with-parent). And it gets
// no status descriptor, into which it would write just then. The stub's records
// say that the command ran, and from there on bubblewrap's own status is the
// command's.
func startBwrapPart(plan platform.Plan, cmd Command, opened sources, staged bwrap.Stage) (*sandbox, stub.Spec, error) {
	own := opened.unstaged(staged)
	options, err := arguments(plan, cmd, own, staged)
	if err != nil {
		return nil, stub.Spec{}, err
	}
	var opening opener
	defer opening.closeTheirs()
	ours, theirs := opening.socketPair()
	saidR, saidW := opening.pipe()
	exe := opening.open("/proc/self/exe", unix.O_RDONLY)
	args := opening.memfd(options)
	null := opening.open(os.DevNull, unix.O_RDWR)
	if opening.err != nil {
		return nil, stub.Spec{}, opening.fail()
	}
	files := []*os.File{orFile(cmd.Stdin, null), orFile(cmd.Stdout, null), saidW,
		theirs, args, exe, orFile(cmd.Stderr, null)}
	argv := []string{"bwrap", "--args", itoa(argsFD), "--", "/proc/self/fd/" + itoa(exeFD), stub.Arg}
	s := newSandbox(ours)
	s.pid, s.pidfd, err = startProcess(plan.Program, argv, append(files, own.files()...), placing{group: cmd.Terminal != nil})
	if err != nil {
		opening.err = err
		return nil, stub.Spec{}, opening.fail()
	}
	s.said = saidR
	// The mounts take a few milliseconds; meanwhile the orders are written.
	orders := ordersFor(plan, cmd)
	orders.Mounts = opened.checks(plan.Layout)
	orders.Stderr = stderrFD
	orders.Landlock = plan.Landlock
	return s, orders, nil
}

// arguments are bubblewrap's options, each ended by a NUL.
func arguments(plan platform.Plan, cmd Command, own sources, staged bwrap.Stage) ([]byte, error) {
	number := own.numbers()
	list := bwrap.Args(plan.Layout, bwrap.Options{
		Features:   plan.Features,
		ShareNet:   plan.Effective.Network.Mode != 0,
		NewSession: !cmd.Interactive,
		Stage:      staged,
		FD:         func(i int) int { return number[i] },
	})
	if n := len(list) + ownArgs; n > bwrap.MaxArgs {
		return nil, tooManyMounts(n)
	}
	return []byte(strings.Join(list, "\x00") + "\x00"), nil
}

// ownArgs is what stands on bubblewrap's command line itself.
const ownArgs = 6

// files lists the open descriptors, numbers where each mount's will be.
func (s sources) files() []*os.File {
	var files []*os.File
	for _, src := range s {
		if src.file != nil {
			files = append(files, src.file)
		}
	}
	return files
}

func (s sources) numbers() []int {
	numbers, next := make([]int, len(s)), firstSourceFD
	for i, src := range s {
		if src.file != nil {
			numbers[i] = next
			next++
		}
	}
	return numbers
}
