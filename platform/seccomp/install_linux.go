package seccomp

import (
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/script"
)

// Stage is the stage in the notes of what Write adds.
const Stage = "seccomp"

// Install sets no_new_privs and puts p in force on all threads of the process, for
// good, and for whatever it executes or starts from now on. It should be the last
// step before execve. Nothing changes on error but no_new_privs, which stays set
// on the calling thread. Errors are an [InstallError].
func Install(p Program) error {
	if err := loadable(p); err != nil {
		return err
	}
	// no_new_privs belongs to the thread, which is why both calls share one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := script.New()
	p.Write(s)
	if f := script.Run(s); f.Step != 0 {
		return InstallError{Op: s.Note(f).Text, Err: unix.Errno(f.Errno)}
	}
	return nil
}

// Write adds to s what Install does.
//
// Every thread is filtered at once (SECCOMP_FILTER_FLAG_TSYNC, Linux 3.17): Go
// moves goroutines between threads, and one unfiltered thread would be a way out.
// A thread that cannot follow is ESRCH (Linux 5.7).
func (p Program) Write(s *script.Script) {
	// struct sock_fprog: the number of instructions in its first two bytes, and where
	// they are.
	program := s.Words(script.Number(p.Len()), s.Bytes(p.Bytes()))
	s.For(script.Note{Stage: Stage, Text: "set no_new_privs"})
	s.Call(unix.SYS_PRCTL, script.Number(unix.PR_SET_NO_NEW_PRIVS), script.Number(1))
	s.For(script.Note{Stage: Stage, Text: "load the program"})
	s.Call(unix.SYS_SECCOMP, script.Number(unix.SECCOMP_SET_MODE_FILTER),
		script.Number(unix.SECCOMP_FILTER_FLAG_TSYNC|unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH), program)
}
