package stage

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Builder is a running builder as its launcher sees it. A nil one has nothing
// to attach.
type Builder struct {
	pid, pidfd int
	socket     int
	sites      []string
	far        []Step // looked at from here, once they are attached
	reaped     bool
}

// ErrRefused says that this machine does not let the caller build trees: the
// kernel is too old, or something forbids what is needed.
var ErrRefused = errors.New("mounts cannot be staged here")

// Start starts a builder and returns when nothing stands in its way. The
// caller's thread has to live as long as the builder, which dies with it.
// files are what the steps copy, and may be closed when Start returns.
func Start(o Orders, files []*os.File) (*Builder, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(pair[1])
	b := &Builder{socket: pair[0], sites: o.Sites, far: o.far()}
	if err := b.start(pair[1], o, files); err != nil {
		unix.Close(pair[0])
		return nil, errors.Join(ErrRefused, err)
	}
	kind, _, err := b.receive(nil)
	if err == nil && kind != ready {
		err = errors.New("unexpected record")
	}
	if err != nil {
		b.Close()
		return nil, errors.Join(ErrRefused, err)
	}
	return b, nil
}

func (b *Builder) start(socket int, o Orders, files []*os.File) error {
	orders, err := unix.MemfdCreate("sbx-stage", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(orders)
	if _, err := unix.Pwrite(orders, o.encode(), 0); err != nil {
		return err
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(null)
	numbers := []uintptr{uintptr(null), uintptr(null), uintptr(null), uintptr(socket), uintptr(orders)}
	for _, f := range files {
		numbers = append(numbers, f.Fd())
	}
	defer runtime.KeepAlive(files)
	if os.Geteuid() == 0 { // no need for a second user namespace
		if err = b.fork(numbers, &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}); !errors.Is(err, unix.EPERM) {
			return err
		}
	}
	return b.fork(numbers, &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN},
	})
}

func (b *Builder) fork(files []uintptr, sys *syscall.SysProcAttr) (err error) {
	b.pidfd = -1
	sys.Pdeathsig, sys.PidFD = syscall.SIGKILL, &b.pidfd
	b.pid, err = syscall.ForkExec("/proc/self/exe", []string{"sbx", Arg}, &syscall.ProcAttr{
		Dir: "/", Env: []string{}, Files: files, Sys: sys,
	})
	return err
}

// receive reads one record, and the descriptors that come with it.
func (b *Builder) receive(fds []int) (kind byte, got []int, err error) {
	buf, oob := make([]byte, 4096+256), make([]byte, unix.CmsgSpace(4*batch))
	var n, oobn int
	for {
		n, oobn, _, _, err = unix.Recvmsg(b.socket, buf, oob, unix.MSG_CMSG_CLOEXEC)
		if err != unix.EINTR {
			break
		}
	}
	switch {
	case err != nil:
		return 0, fds, err
	case n == 0:
		return 0, fds, errors.New("the builder ended")
	case buf[0] == failed:
		return failed, fds, failureOf(string(buf[1:n]))
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return 0, fds, err
	}
	for _, m := range messages {
		rights, err := unix.ParseUnixRights(&m)
		if err != nil {
			return 0, fds, err
		}
		fds = append(fds, rights...)
	}
	return buf[0], fds, nil
}

func failureOf(record string) error {
	f := strings.SplitN(record, "\x00", 3)
	if len(f) != 3 {
		return errOrders
	}
	n, _ := strconv.Atoi(f[1])
	return &Failure{Path: f[0], Errno: unix.Errno(n), Text: f[2]}
}

// Attach waits for the trees and attaches them in the sandbox of which pid is
// a process. That process must not end or change its namespaces meanwhile.
func (b *Builder) Attach(pid int) error {
	if b == nil {
		return nil
	}
	var fds []int
	defer func() { closeAll(fds) }()
	for len(fds) < len(b.sites) {
		var kind byte
		var err error
		if kind, fds, err = b.receive(fds); err != nil {
			return err
		}
		if kind != trees {
			return errors.New("unexpected record")
		}
	}
	b.reaped = true
	go b.reap() // it takes a while to dismantle what it built
	if len(b.far) == 0 {
		return attach(pid, fds, b.sites, nil)
	}
	root, err := openRoot(pid)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	points, err := openSites(root, b.sites)
	defer func() { closeAll(points) }()
	if err != nil {
		return err
	}
	if err := attach(pid, fds, b.sites, points); err != nil {
		return err
	}
	return verify(root, b.far)
}

// Close ends a builder that is not needed any more.
func (b *Builder) Close() {
	if b == nil || b.reaped {
		return
	}
	b.reaped = true
	_ = unix.PidfdSendSignal(b.pidfd, unix.SIGKILL, nil, 0) // gone already is as good
	b.reap()
}

func (b *Builder) reap() {
	for {
		if _, err := unix.Wait4(b.pid, nil, 0, nil); err != unix.EINTR {
			break
		}
	}
	closeAll([]int{b.pidfd, b.socket})
}

func closeAll(fds []int) {
	for _, fd := range fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
