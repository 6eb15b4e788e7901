package seccomp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// specialChildren test what only the kernel and the Go runtime together can show.
var specialChildren = map[string]func() error{
	"threads":   childThreads,
	"nested":    childNested,
	"divergent": childDivergent,
	"reconnect": childReconnect,
}

func special(t *testing.T, name string, user *syscall.Credential) {
	t.Helper()
	output(t, start(t, order{Special: name}, user, scratch(t)))
}

func TestInstallCoversEveryThread(t *testing.T) {
	for name, user := range identities() {
		t.Run(name, func(t *testing.T) { special(t, "threads", user) })
	}
}

func childThreads() error {
	const others = 4
	ready := make(chan struct{})
	for range others {
		go func() {
			runtime.LockOSThread() // and so keep the thread
			ready <- struct{}{}
			select {}
		}()
	}
	for range others {
		<-ready
	}
	if err := installHost(Config{}); err != nil {
		return err
	}
	threads, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(threads) <= others {
		return fmt.Errorf("%d threads: %w", len(threads), err)
	}
	for _, file := range threads {
		status, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, want := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
			if !strings.Contains(string(status), want) {
				return fmt.Errorf("%s lacks %q", file, want)
			}
		}
	}
	return nil
}

func installHost(c Config) error {
	arch, err := Host()
	if err != nil {
		return err
	}
	c.Arch = arch
	p, err := Compile(c)
	if err != nil {
		return err
	}
	return Install(p)
}

func TestNestedFiltersNarrow(t *testing.T) {
	for name, user := range identities() {
		t.Run(name, func(t *testing.T) { special(t, "nested", user) })
	}
}

// childNested installs a loose filter below a strict one and the reverse: the
// strict answer stays.
func childNested() error {
	if err := installHost(Config{Network: NetworkOn, Namespaced: true}); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return fmt.Errorf("outer filter: %w", err)
	}
	if err := unix.Close(fd); err != nil {
		return err
	}
	for _, inner := range []Config{{}, {Network: NetworkOn, UnixSockets: true, Debug: true, Namespaced: true}} {
		if err := installHost(inner); err != nil {
			return fmt.Errorf("inner filter: %w", err)
		}
		if _, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0); !errors.Is(err, unix.EAFNOSUPPORT) {
			return fmt.Errorf("under %+v: %w", inner, err)
		}
	}
	return nil
}

func TestInstallNeedsAllThreads(t *testing.T) {
	special(t, "divergent", nil)
}

// childDivergent gives one thread a filter of its own, which the others cannot
// take over.
func childDivergent() error {
	done := make(chan error)
	go func() {
		done <- func() error {
			if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
				return err
			}
			allow := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: uint32(Allow)}
			_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
				uintptr(unsafe.Pointer(&unix.SockFprog{Len: 1, Filter: &allow})))
			if errno != 0 {
				return errno
			}
			return nil
		}()
		_ = unix.Nanosleep(&unix.Timespec{Sec: 60}, nil) // keep the thread
	}()
	if err := <-done; err != nil {
		return err
	}
	err := installHost(Config{})
	var typed InstallError
	if !errors.As(err, &typed) || !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("a thread with its own filter: %w", err)
	}
	if _, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0); err != nil {
		return fmt.Errorf("filtered in spite of the error: %w", err)
	}
	return nil
}

// The pairs that stay allowed cannot be turned towards another socket, which is
// why only datagram pairs are refused.
func TestPairsCannotBeReconnected(t *testing.T) {
	special(t, "reconnect", nil)
}

func childReconnect() error {
	for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_SEQPACKET} {
		name := fmt.Sprint("listener", kind)
		listener, err := unix.Socket(unix.AF_UNIX, kind, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(unix.Bind(listener, &unix.SockaddrUnix{Name: name}), unix.Listen(listener, 4)); err != nil {
			return err
		}
		// The control arm: a fresh socket of the kind does connect.
		fresh, err := unix.Socket(unix.AF_UNIX, kind, 0)
		if err != nil {
			return err
		}
		if err := unix.Connect(fresh, &unix.SockaddrUnix{Name: name}); err != nil {
			return err
		}
		pair, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
		if err != nil {
			return err
		}
		if err := unix.Connect(pair[0], &unix.SockaddrUnix{Name: name}); err == nil {
			return fmt.Errorf("a pair of type %d was connected to %s", kind, name)
		}
		if err := unix.Close(pair[1]); err != nil {
			return err
		}
		if err := unix.Connect(pair[0], &unix.SockaddrUnix{Name: name}); err == nil {
			return fmt.Errorf("half a pair of type %d was connected to %s", kind, name)
		}
	}
	return nil
}
