package stub

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/script"
)

func (w writer) directory(dir string) {
	w.stage(StageChdir, dir)
	w.Call(unix.SYS_CHDIR, w.Text(dir))
}

// descriptors gives the command its own stderr and nothing above 2: not what
// the launcher's caller left open, and not the socket.
func (w writer) descriptors(stderr int) {
	w.stage(StageDescriptors, "")
	if stderr > 0 {
		w.Call(unix.SYS_DUP3, script.Number(stderr), script.Number(2), script.Number(0))
	}
	w.Call(unix.SYS_CLOSE_RANGE, script.Number(3), script.Number(^uint32(0)), script.Number(unix.CLOSE_RANGE_CLOEXEC))
}

// kernelSigaction is struct sigaction as rt_sigaction(2) takes it, on amd64
// and arm64; zero means SIG_DFL.
type kernelSigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const lastSignal = 64

// signals gives the command the dispositions of a fresh login: the launcher and
// bubblewrap ignore what a terminal sends, and ignored signals stay ignored
// across execve.
func (w writer) signals() {
	w.stage(StageSignals, "")
	action := w.Room(unsafe.Sizeof(kernelSigaction{}))
	size := script.Number(unsafe.Sizeof(kernelSigaction{}.mask))
	for sig := 1; sig <= lastSignal; sig++ {
		if sig != int(unix.SIGKILL) && sig != int(unix.SIGSTOP) { // cannot be anything else
			w.Call(unix.SYS_RT_SIGACTION, script.Number(sig), action, script.Number(0), size)
		}
	}
	w.Call(unix.SYS_RT_SIGPROCMASK, script.Number(unix.SIG_SETMASK), action, script.Number(0), size)
}

// lastCapability is the highest number that a kernel could know; the drop
// stops at the first that this one does not.
const lastCapability = 63

// privileges leaves the command without capabilities, also as root:
// bubblewrap has done it already, and without namespaces nobody else would. An
// unprivileged process may not drop from the bounding set and has no need to,
// because no_new_privs keeps it from ever gaining one.
func (w writer) privileges() {
	w.stage(StagePrivileges, "")
	dropped := w.Label()
	for c := 0; c <= lastCapability; c++ {
		w.Call(unix.SYS_PRCTL, script.Number(unix.PR_CAPBSET_DROP), script.Number(c)).Else(dropped, uint16(unix.EINVAL), uint16(unix.EPERM))
	}
	w.Place(dropped)
	w.Call(unix.SYS_PRCTL, script.Number(unix.PR_CAP_AMBIENT), script.Number(unix.PR_CAP_AMBIENT_CLEAR_ALL))
	header := w.Words(script.Number(unix.LINUX_CAPABILITY_VERSION_3)) // and process 0: oneself
	w.Call(unix.SYS_CAPSET, header, w.Room(2*unsafe.Sizeof(unix.CapUserData{})))
}

// wait holds the stub until the launcher lets it go: first of all if something
// is to be done to it or around it before, else as late as may be.
func (w writer) wait() {
	w.For(script.Note{Stage: string(StageReady), Text: "the launcher is gone"})
	word := w.Room(8)
	w.Call(unix.SYS_READ, script.Number(SocketFD), word, script.Number(1))
	w.Test(word, 0xff, letGo, 0)
}

func (w writer) ready() {
	w.stage(StageReady, "")
	w.Call(unix.SYS_WRITE, script.Number(SocketFD), w.Bytes([]byte{ready}), script.Number(1))
}

// Rlimit is one setrlimit(2): Value is the soft limit, Margin what the hard
// one is above it.
type Rlimit struct {
	Resource int
	Value    uint64
	Margin   uint64
}

func (w writer) limits(limits []Rlimit) {
	w.stage(StageLimits, "")
	for _, l := range limits {
		w.Call(unix.SYS_PRLIMIT64, script.Number(0), script.Number(l.Resource),
			w.Words(script.Number(l.Value), script.Number(l.Value+l.Margin)), script.Number(0))
	}
}

// exec becomes what lookup has found.
func (w writer) exec(argv, env []string) {
	arguments, environment := w.Texts(argv), w.Texts(env)
	w.stage(StageExec, "")
	w.Call(unix.SYS_EXECVE, script.In(script.Subject), arguments, environment)
}
