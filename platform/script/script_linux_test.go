package script

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// opened adds an open of p into FD.
func opened(s *Script, p string) Step {
	return s.Call(unix.SYS_OPENAT, Number(unix.AT_FDCWD), s.Text(p), Number(unix.O_PATH|unix.O_CLOEXEC), Number(0)).Into(FD)
}

func closed(s *Script) { s.Call(unix.SYS_CLOSE, In(FD)) }

func TestFailures(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, row := range []struct {
		name  string
		write func(*Script)
		step  uint32
		errno unix.Errno
	}{
		{"empty", func(*Script) {}, 0, 0},
		{"a call that works", func(s *Script) { opened(s, dir); closed(s) }, 0, 0},
		{"a call that fails ends it", func(s *Script) { opened(s, dir+"/none"); s.Fail(99) }, 1, unix.ENOENT},
		{"what the register held is used", func(s *Script) { s.Set(FD, Number(1<<20)); closed(s) }, 2, unix.EBADF},
		{"a test that holds", func(s *Script) { s.Test(s.Bytes([]byte{1, 2, 3, 4, 5, 6, 7, 8}), 0xff00, 0x0200, 7) }, 0, 0},
		{"a test that does not", func(s *Script) { s.Test(s.Bytes([]byte{1, 2, 3, 4, 5, 6, 7, 8}), 0xff00, 0x0300, 7) }, 1, 7},
		{"a test without a number", func(s *Script) { s.Test(s.Room(8), 1, 1, 0) }, 1, 0},
		{"a refusal", func(s *Script) { s.Refuse(s.Room(8), 1, 0, 7) }, 2, 7},
		{"no refusal", func(s *Script) { s.Refuse(s.Room(8), 1, 1, 7) }, 0, 0},
		{"stat of a directory", func(s *Script) {
			st := s.Stat()
			st.Path(dir)
			s.Test(st.Mode(), unix.S_IFMT, unix.S_IFDIR, 7)
			opened(s, dir+"/file")
			st.Of(FD)
			s.Test(st.Mode(), unix.S_IFMT, unix.S_IFREG, 8)
			closed(s)
			s.Test(st.Mode(), unix.S_IFMT, unix.S_IFDIR, 9)
		}, 7, 9},
		{"a stored register", func(s *Script) {
			at := s.Room(8)
			s.Set(FD, Number(0x1234))
			s.Store(at.Plus(4), In(FD))
			s.Test(at, ^uint64(0), 0x1234<<32, 7)
		}, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := New()
			row.write(s)
			f := Run(s)
			assert.Equal(t, row.step, f.Step)
			assert.Equal(t, row.errno, unix.Errno(f.Errno))
		})
	}
}

// TestElse: another way is taken for the errors that it was named for, and no
// others.
func TestElse(t *testing.T) {
	for _, row := range []struct {
		only []uint16
		step uint32
	}{
		{nil, 0},
		{[]uint16{uint16(unix.EBADF)}, 0},
		{[]uint16{uint16(unix.EPERM), uint16(unix.EBADF)}, 0},
		{[]uint16{uint16(unix.EPERM)}, 1},
		{[]uint16{uint16(unix.EPERM), uint16(unix.EINTR)}, 1},
	} {
		s := New()
		over := s.Label()
		s.Call(unix.SYS_CLOSE, Number(1<<20)).Else(over, row.only...)
		s.Fail(99)
		s.Place(over)
		assert.Equal(t, row.step, Run(s).Step, "%v", row.only)
	}
}

// TestRemember: the first refusal that says more than "not there" is reported
// in the end, unless something else ends the script.
func TestRemember(t *testing.T) {
	search := func(s *Script, errnos ...int) {
		for _, e := range errnos {
			next := s.Label()
			s.For(Note{Path: unix.Errno(e).Error()})
			s.Fail(e).Else(next).Remember()
			s.Place(next)
		}
	}
	for _, row := range []struct {
		errnos []int
		want   unix.Errno
	}{
		{nil, unix.ENOENT},
		{[]int{int(unix.ENOENT), int(unix.ENOTDIR)}, unix.ENOENT},
		{[]int{int(unix.ENOENT), int(unix.EACCES), int(unix.EISDIR)}, unix.EACCES},
	} {
		s := New()
		search(s, row.errnos...)
		s.For(Note{Path: unix.ENOENT.Error()})
		s.Fail(int(unix.ENOENT)).Remember()
		f := Run(s)
		assert.Equal(t, row.want, unix.Errno(f.Errno))
		assert.Equal(t, row.want.Error(), s.Note(f).Path)
	}
	s := New()
	search(s, int(unix.EACCES))
	s.Fail(7)
	assert.Equal(t, uint32(7), Run(s).Errno, "a failure that does not ask for it")
}

// TestSubject: a failure names the text that the register held.
func TestSubject(t *testing.T) {
	s := New()
	s.Text("first")
	s.Set(Subject, s.Text("second"))
	s.Call(unix.SYS_CHDIR, In(Subject))
	f := Run(s)
	assert.Equal(t, unix.ENOENT, unix.Errno(f.Errno))
	assert.Equal(t, "second", s.TextAt(f.Subject))
	assert.Empty(t, s.TextAt(0))
	assert.Empty(t, s.TextAt(1<<40))
	assert.Equal(t, Note{}, s.Note(Failure{}))
}

// TestImageMoves: an image is as good in other memory, which is what the stub
// reads it into.
func TestImageMoves(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	s := New()
	s.Call(unix.SYS_WRITEV, Number(int(w.Fd())), s.Words(s.Text("moved"), Number(5)), Number(1))
	image := s.Image()
	require.Equal(t, uintptr(len(image)), Size(unsafe.Pointer(unsafe.SliceData(image))))
	there, err := unix.Mmap(-1, 0, len(image), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	defer func() { require.NoError(t, unix.Munmap(there)) }()
	copy(there, image)
	clear(image)
	require.Zero(t, Perform(unsafe.Pointer(unsafe.SliceData(there))))
	said := make([]byte, 5)
	_, err = r.Read(said)
	require.NoError(t, err)
	assert.Equal(t, "moved", string(said))
}
