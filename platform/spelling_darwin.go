package platform

import (
	"bytes"
	"path"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// storedSpelling returns the absolute path p in the case and Unicode form that
// the volume stores, by which the kernel names it to Seatbelt. What does not
// exist or cannot be opened keeps its last component below the directory's
// stored name.
func storedSpelling(p string) string {
	if p == "/" {
		return p
	}
	if stored, ok := NameOf(p); ok {
		return stored
	}
	return path.Join(storedSpelling(path.Dir(p)), path.Base(p))
}

// NameOf asks the kernel for the name of what is at p, fcntl(2) F_GETPATH. The
// last component is not followed if it is a link.
func NameOf(p string) (name string, ok bool) {
	fd, err := unix.Open(p, unix.O_EVTONLY|unix.O_SYMLINK|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", false
	}
	defer unix.Close(fd)
	return NameOfDescriptor(fd)
}

// NameOfDescriptor is NameOf for what is open.
func NameOfDescriptor(fd int) (name string, ok bool) {
	buf := make([]byte, 4*unix.PathMax)
	_, err := unix.FcntlInt(uintptr(fd), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&buf[0]))))
	runtime.KeepAlive(buf)
	text, _, _ := bytes.Cut(buf, []byte{0})
	return string(text), err == nil && len(text) > 0 && text[0] == '/'
}
