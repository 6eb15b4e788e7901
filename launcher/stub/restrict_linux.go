package stub

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sockFilterSize is sizeof(struct sock_filter), bpf(4).
const sockFilterSize = 8

// filter installs a seccomp program for this thread. Other threads of the
// runtime die in execve, so they need none. no_new_privs is what lets an
// unprivileged process do it; bubblewrap has set it already.
func filter(program []byte) error {
	if len(program) == 0 {
		return nil
	}
	if len(program)%sockFilterSize != 0 {
		return fail(StageSeccomp, nil, errors.New("program is cut off"))
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fail(StageSeccomp, nil, err)
	}
	prog := unix.SockFprog{
		Len:    uint16(len(program) / sockFilterSize),
		Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0])),
	}
	return fail(StageSeccomp, nil, unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0))
}

func restrict(l *Landlock) error {
	if l == nil {
		return nil
	}
	return fail(StageLandlock, nil, errors.New("not supported"))
}
