package stub

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/script"
)

// Arg is the argument by which a program is entered as the stub. The entry
// points in assembler compare with the same eight letters.
const Arg = "sbx-stub"

// SocketFD is the descriptor of the stream to the launcher.
const SocketFD = 3

// exitFailed is the stub's own status. The launcher knows failures by their
// record; the status only matters when the launcher is gone.
const exitFailed = 125

// A program that was not linked for entry becomes the stub here.
func init() {
	if len(os.Args) == 2 && os.Args[1] == Arg {
		runtime.LockOSThread()
		serve()
	}
}

// storage stands for the thread's storage where no runtime has set it up.
var storage [2]uintptr

// serve is the whole life of the stub. Like [script.Perform] it must do
// without a runtime.
//
//go:nosplit
//go:norace
func serve() {
	_, _, _ = syscall.RawSyscall6(unix.SYS_FCNTL, SocketFD, unix.F_SETFD, unix.FD_CLOEXEC, 0, 0, 0)
	answer := record{kind: hello}
	if say(unsafe.Pointer(&answer), 1) {
		if orders := receive(); orders != nil {
			answer.kind, answer.failure = failed, script.Perform(orders)
			say(unsafe.Pointer(&answer), unsafe.Sizeof(answer)) // nobody left to tell if it fails
		}
	}
	for {
		_, _, _ = syscall.RawSyscall6(unix.SYS_EXIT_GROUP, exitFailed, 0, 0, 0, 0, 0)
	}
}

//go:nosplit
//go:norace
func say(from unsafe.Pointer, n uintptr) bool {
	written, _, errno := syscall.RawSyscall6(unix.SYS_WRITE, SocketFD, uintptr(from), n, 0, 0, 0)
	return errno == 0 && written == n
}

// receive returns the image of the orders in memory of its own; nil if they do
// not come.
//
//go:nosplit
//go:norace
func receive() unsafe.Pointer {
	var head [script.HeaderSize]byte
	if !readAll(unsafe.Pointer(&head), uintptr(len(head))) {
		return nil
	}
	size := script.Size(unsafe.Pointer(&head))
	at, _, errno := syscall.RawSyscall6(unix.SYS_MMAP, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uintptr(0), 0)
	if errno != 0 || size < uintptr(len(head)) {
		return nil
	}
	image := *(*unsafe.Pointer)(unsafe.Pointer(&at)) // not the collector's memory
	*(*[script.HeaderSize]byte)(image) = head
	if !readAll(unsafe.Add(image, len(head)), size-uintptr(len(head))) {
		return nil
	}
	return image
}

//go:nosplit
//go:norace
func readAll(into unsafe.Pointer, n uintptr) bool {
	for got := uintptr(0); got < n; {
		more, _, errno := syscall.RawSyscall6(unix.SYS_READ, SocketFD, uintptr(unsafe.Add(into, got)), n-got, 0, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || more == 0 {
			return false
		}
		got += more
	}
	return true
}
