package launcher

import (
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/launcher/stub"
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/platform/nofollow"
)

// firstGrantFD follows the socket in the stub's descriptors.
const firstGrantFD = stub.SocketFD + 1

// startBuiltin starts the stub itself, without a backend around it. The
// grants are opened here, so what Landlock opens up is what was checked.
func startBuiltin(plan platform.Plan, cmd Command) (*sandbox, stub.Spec, error) {
	place, err := newScratch()
	if err != nil {
		return nil, stub.Spec{}, &SetupError{Step: "scratch directory", Reason: err.Error()}
	}
	s, orders, err := startInScratch(plan, relocate(plan, cmd, place), place)
	if err != nil {
		place.remove()
	}
	return s, orders, err
}

func startInScratch(plan platform.Plan, cmd Command, place *scratch) (*sandbox, stub.Spec, error) {
	orders := ordersFor(plan, cmd)
	ruleset := plan.Landlock
	var grants []*os.File
	var err error
	if ruleset.Files {
		own := landlock.Grant{Path: place.dir, Access: landlock.Read | landlock.Write}
		if ruleset.Grants, grants, err = openGrants(slices.Concat(ruleset.Grants, []landlock.Grant{own})); err != nil {
			return nil, stub.Spec{}, err
		}
		defer closeAll(grants)
	}
	for i := range ruleset.Grants {
		ruleset.Grants[i].FD = firstGrantFD + i
	}
	orders.Landlock = ruleset

	var opening opener
	defer opening.closeTheirs()
	ours, theirs := opening.socketPair()
	null := opening.open(os.DevNull, unix.O_RDWR)
	if opening.err != nil {
		return nil, stub.Spec{}, opening.fail()
	}
	files := []*os.File{orFile(cmd.Stdin, null), orFile(cmd.Stdout, null), orFile(cmd.Stderr, null), theirs}
	s := newSandbox(ours)
	s.direct, s.place, s.cleanup = true, place, place.remove
	if cmd.Reap {
		becomeReaper()
	}
	s.pid, s.pidfd, err = startProcess("/proc/self/exe", []string{"sbx", stub.Arg}, append(files, grants...), placing{session: !cmd.Interactive, group: cmd.Terminal != nil, dying: true})
	if err != nil {
		opening.err = err
		return nil, stub.Spec{}, opening.fail()
	}
	if err := place.fill(); err != nil { // while the stub starts, which has no orders yet
		kill(s.pidfd, unix.SIGKILL)
		s.wait(-1)
		s.cleanup = nil // the caller's
		s.close()
		return nil, stub.Spec{}, err
	}
	return s, orders, nil
}

// openGrants opens the place of each rule. Device nodes that this machine
// lacks are left out: what is not there needs no rule.
func openGrants(grants []landlock.Grant) (kept []landlock.Grant, files []*os.File, err error) {
	for _, g := range grants {
		fd, err := openGrant(g.Path)
		if errors.Is(err, unix.ENOENT) && strings.HasPrefix(g.Path, "/dev/") {
			continue
		}
		if err != nil {
			closeAll(files)
			return nil, nil, &SetupError{Step: "open", Path: g.Path, Reason: sourceReason(err)}
		}
		kept, files = append(kept, g), append(files, os.NewFile(uintptr(fd), g.Path))
	}
	return kept, files, nil
}

// openGrant refuses links everywhere but in /etc and /dev, where only the
// administrator places them: resolv.conf is one on many systems.
func openGrant(p string) (int, error) {
	if strings.HasPrefix(p, "/etc/") || strings.HasPrefix(p, "/dev/") {
		return unix.Open(p, unix.O_PATH|unix.O_CLOEXEC, 0)
	}
	return nofollow.Open(p)
}
