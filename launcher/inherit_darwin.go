package launcher

import (
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform"
)

// closeOnExec keeps every descriptor but the streams from the command: also
// those that our own parent left open.
func closeOnExec() {
	const first = 3
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		for fd := first; fd < descriptorLimit(); fd++ {
			unix.CloseOnExec(fd)
		}
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}

// descriptorLimit is one above the highest descriptor that can be open, within
// reason.
func descriptorLimit() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1<<16 {
		return 1 << 16
	}
	return int(limit.Cur)
}

// catchIgnored catches what a terminal sends and we ignore: what is ignored
// stays so in the command, what is caught goes back to its default there. The
// returned function ignores it again.
func catchIgnored() (restore func()) {
	var ignored []os.Signal
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			ignored = append(ignored, sig)
		}
	}
	if len(ignored) == 0 {
		return func() {}
	}
	sink := make(chan os.Signal, 1) // what does not fit is dropped
	signal.Notify(sink, ignored...)
	return func() { signal.Ignore(ignored...) }
}

// terminalOf returns the name of the first terminal among the streams that the
// command inherits; "" if there is none. The profile opens that one alone.
func terminalOf(cmd Command) string {
	for _, f := range []*os.File{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		if f == nil {
			continue
		}
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TIOCGETA); err != nil {
			continue
		}
		if name, ok := platform.NameOfDescriptor(int(f.Fd())); ok && strings.HasPrefix(name, "/dev/tty") {
			return name
		}
	}
	return ""
}
