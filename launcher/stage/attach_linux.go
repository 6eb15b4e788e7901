package stage

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attachment is all that the forked process needs. It is filled before the
// fork: afterwards nothing may be allocated.
type attachment struct {
	user, mount int // namespaces of the sandbox
	trees       []int
	dirs        []int   // where the names of the sites count from
	sites       []*byte // empty for the directory itself
	report      int     // pipe, for the failure

	failure [2]uint64 // index of the step that failed, errno
	empty   [1]byte
}

// The steps before the trees, by their index in a failure.
const (
	joinUser = iota
	joinMount
	firstTree
)

// attach puts the trees into the sandbox of a process. Only a process without
// threads can join a user namespace, and a Go program always has some: so it
// forks, and the child does the few system calls and nothing else. The user
// namespace is the one that owns the mounts, which need not be the one that
// the process is in.
//
// points are the sites, opened, where the child could not look them all up;
// nil where it can.
func attach(pid int, trees []int, sites []string, points []int) error {
	mount, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(mount)
	user, err := unix.IoctlRetInt(mount, unix.NS_GET_USERNS)
	if err != nil {
		return err
	}
	defer unix.Close(user)
	var report [2]int
	if err := unix.Pipe2(report[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	defer unix.Close(report[0])
	a := &attachment{user: user, mount: mount, trees: trees, report: report[1]}
	for i, site := range sites {
		dir := unix.AT_FDCWD
		if points != nil {
			dir, site = points[i], ""
		}
		p, err := unix.BytePtrFromString(site)
		if err != nil {
			return err
		}
		a.dirs, a.sites = append(a.dirs, dir), append(a.sites, p)
	}
	child, errno := forkWithoutSignals(a)
	unix.Close(report[1])
	if errno != 0 {
		return errno
	}
	return outcome(child, report[0], sites)
}

// outcome waits for the child and words what failed.
func outcome(child, report int, sites []string) error {
	var status unix.WaitStatus
	for {
		if _, err := unix.Wait4(child, &status, 0, nil); err != unix.EINTR {
			break
		}
	}
	if status.Exited() && status.ExitStatus() == 0 {
		return nil
	}
	var failure [2]uint64
	n, err := unix.Read(report, unsafe.Slice((*byte)(unsafe.Pointer(&failure)), unsafe.Sizeof(failure)))
	if err != nil || n != int(unsafe.Sizeof(failure)) {
		return errors.New("attaching the mounts was interrupted")
	}
	errno := unix.Errno(failure[1])
	if i := int(failure[0]) - firstTree; i >= 0 && i < len(sites) {
		return fail(sites[i], errno)
	}
	return fmt.Errorf("joining the sandbox's namespaces: %w", errno)
}

// forkWithoutSignals forks with all signals blocked: the runtime's handlers
// would find a runtime with one thread left.
func forkWithoutSignals(a *attachment) (child int, errno unix.Errno) {
	runtime.LockOSThread() // whose mask it is
	defer runtime.UnlockOSThread()
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
		return -1, unix.EINVAL
	}
	child, errno = fork(a)
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) // fails only on wrong arguments
	return child, errno
}

// fork is entered once and left twice, the child by its end. Like the child's
// side of the standard library's, it must not grow the stack, allocate, or
// call anything but raw system calls.
//
//go:norace
//go:nosplit
func fork(a *attachment) (child int, errno unix.Errno) {
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return int(pid), errno
	}
	step := joinUser
	if _, _, errno = syscall.RawSyscall(unix.SYS_SETNS, uintptr(a.user), unix.CLONE_NEWUSER, 0); errno == 0 {
		step = joinMount
		_, _, errno = syscall.RawSyscall(unix.SYS_SETNS, uintptr(a.mount), unix.CLONE_NEWNS, 0)
	}
	for i := 0; errno == 0 && i < len(a.trees); i++ {
		step = firstTree + i
		_, _, errno = syscall.RawSyscall6(unix.SYS_MOVE_MOUNT, uintptr(a.trees[i]), uintptr(unsafe.Pointer(&a.empty)),
			uintptr(a.dirs[i]), uintptr(unsafe.Pointer(a.sites[i])), unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH, 0)
	}
	code := uintptr(0)
	if errno != 0 {
		code = 1
		a.failure = [2]uint64{uint64(step), uint64(errno)}
		syscall.RawSyscall(unix.SYS_WRITE, uintptr(a.report), uintptr(unsafe.Pointer(&a.failure)), unsafe.Sizeof(a.failure))
	}
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, code, 0, 0)
	}
}
