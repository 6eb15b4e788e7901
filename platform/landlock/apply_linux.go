package landlock

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/nofollow"
)

// ABI asks the running kernel for its Landlock ABI, 1 or more. Without Landlock it
// returns 0 and an [Error] that wraps [errors.ErrUnsupported] and says why.
func ABI() (int, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, Error{Op: "read the ABI", Err: unsupported(errno)}
	}
	return int(abi), nil
}

func unsupported(errno unix.Errno) error {
	switch errno {
	case unix.ENOSYS:
		return fmt.Errorf("the kernel is built without it, or an outer filter hides it (%w): %w", errno, errors.ErrUnsupported)
	case unix.EOPNOTSUPP:
		return fmt.Errorf("it is off since boot, add it to lsm= on the kernel command line (%w): %w", errno, errors.ErrUnsupported)
	default:
		return fmt.Errorf("%w: %w", errno, errors.ErrUnsupported)
	}
}

// rulesetAttr is struct landlock_ruleset_attr as of ABI 6. Older kernels know less
// of it and accept the rest as long as it is zero.
type rulesetAttr struct {
	files  rights
	net    netRights
	scoped uint64
}

// pathBeneathAttr is struct landlock_path_beneath_attr. The kernel's is packed and
// ends after the descriptor.
type pathBeneathAttr struct {
	allowed rights
	fd      int32
}

// netPortAttr is struct landlock_net_port_attr.
type netPortAttr struct {
	allowed netRights
	port    uint64
}

// Rule types of landlock_add_rule.
const (
	rulePathBeneath = 1
	ruleNetPort     = 2
)

// Apply sets no_new_privs and puts e in force on the calling thread, for good, and
// for all that this thread executes or starts from now on. Other threads of the
// process stay as they were, until execve ends them. Apply locks the goroutine to
// its thread and leaves it locked.
//
// Nothing changes on error but no_new_privs. Errors are an [Error]: an e that
// enforces nothing, a grant whose path is missing or leads through a symbolic link
// (ELOOP, ENOTDIR), or E2BIG when 16 domains are stacked already.
func Apply(e Enforced) error {
	if !e.Any() {
		return Error{Op: "apply", Err: errors.New("there is nothing to enforce")}
	}
	runtime.LockOSThread()
	ruleset, err := e.ruleset()
	if err != nil {
		return err
	}
	defer unix.Close(ruleset)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return Error{Op: "set no_new_privs", Err: err}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return Error{Op: "restrict the thread", Err: errno}
	}
	return nil
}

// ruleset returns the descriptor of a ruleset with all rules of e.
func (e Enforced) ruleset() (int, error) {
	attr := rulesetAttr{files: e.files, net: e.net, scoped: uint64(e.scope)}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return -1, Error{Op: "create a ruleset", Err: errno}
	}
	ruleset := int(fd)
	if err := e.fill(ruleset); err != nil {
		_ = unix.Close(ruleset)
		return -1, err
	}
	return ruleset, nil
}

func (e Enforced) fill(ruleset int) error {
	if e.files != 0 {
		for _, g := range e.grants {
			if err := e.addGrant(ruleset, g); err != nil {
				return err
			}
		}
	}
	for _, p := range e.ports {
		attr := netPortAttr{allowed: p.allow, port: uint64(p.port)}
		if err := addRule(ruleset, ruleNetPort, unsafe.Pointer(&attr)); err != nil {
			return Error{Op: fmt.Sprintf("allow %v on port %d", p.allow, p.port), Err: err}
		}
	}
	return nil
}

func (e Enforced) addGrant(ruleset int, g Grant) error {
	fd := g.FD
	if fd == 0 {
		opened, err := nofollow.Open(g.Path)
		if err != nil {
			return Error{Op: "open", Path: g.Path, Err: err}
		}
		defer unix.Close(opened)
		fd = opened
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return Error{Op: "stat", Path: g.String(), Err: err}
	}
	kind := stat.Mode & unix.S_IFMT
	if kind == unix.S_IFLNK {
		return Error{Op: "open", Path: g.String(), Err: unix.ELOOP}
	}
	allowed := e.allowed(g.Access, kind == unix.S_IFDIR)
	if allowed == 0 {
		return nil // such as Connect before ABI 9: nothing is refused that it would open
	}
	attr := pathBeneathAttr{allowed: allowed, fd: int32(fd)}
	if err := addRule(ruleset, rulePathBeneath, unsafe.Pointer(&attr)); err != nil {
		return Error{Op: "grant " + g.Access.String() + " on", Path: g.String(), Err: err}
	}
	return nil
}

func addRule(ruleset int, kind uintptr, attr unsafe.Pointer) error {
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), kind, uintptr(attr), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
