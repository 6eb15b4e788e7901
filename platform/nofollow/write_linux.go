package nofollow

import (
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/script"
)

// Write adds to s what [Open] does. The descriptor is in the register FD.
func Write(s *script.Script, path string) {
	if !haveOpenat2() {
		writeWalk(s, path)
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&how)), unsafe.Sizeof(how))
	s.Call(unix.SYS_OPENAT2, script.Number(unix.AT_FDCWD), s.Text(path), s.Bytes(bytes), script.Number(len(bytes))).Into(script.FD)
}

// haveOpenat2 says whether this process may use it. So may what it starts.
var haveOpenat2 = sync.OnceValue(func() bool {
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &how)
	if err == nil {
		_ = unix.Close(fd)
	}
	return !refused(err)
})

// writeWalk is walk as steps.
func writeWalk(s *script.Script, path string) {
	open := func(at script.Value, name string, flags int) script.Step {
		return s.Call(unix.SYS_OPENAT, at, s.Text(name), script.Number(flags|unix.O_PATH|unix.O_CLOEXEC), script.Number(0))
	}
	open(script.Number(unix.AT_FDCWD), "/", unix.O_DIRECTORY).Into(script.FD)
	rest := strings.TrimPrefix(path, "/")
	for rest != "" {
		name, below, more := strings.Cut(rest, "/")
		flags := unix.O_NOFOLLOW
		if more {
			flags |= unix.O_DIRECTORY // a link is not one: ENOTDIR
		}
		open(script.In(script.FD), name, flags).Into(script.Next)
		s.Call(unix.SYS_CLOSE, script.In(script.FD))
		s.Set(script.FD, script.In(script.Next))
		rest = below
	}
	stat := s.Stat()
	stat.Of(script.FD)
	s.Refuse(stat.Mode(), unix.S_IFMT, unix.S_IFLNK, int(unix.ELOOP))
}
