package script

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stat is what statx(2) tells of a file, for tests of its fields.
type Stat struct {
	script *Script
	at     Value
}

// Stat adds room for it, to be used again and again.
func (s *Script) Stat() Stat {
	return Stat{s, s.Room(unsafe.Sizeof(unix.Statx_t{}))}
}

// Of looks at an open file.
func (st Stat) Of(r Register) Step {
	return st.script.Call(unix.SYS_STATX, In(r), st.script.Text(""), Number(unix.AT_EMPTY_PATH), Number(unix.STATX_BASIC_STATS), st.at)
}

// Path looks at a file by its path, and follows links.
func (st Stat) Path(p string) Step {
	return st.script.Call(unix.SYS_STATX, Number(unix.AT_FDCWD), st.script.Text(p), Number(0), Number(unix.STATX_BASIC_STATS), st.at)
}

// Field is the address of a field, by its offset in [unix.Statx_t].
func (st Stat) Field(offset uintptr) Value { return st.at.Plus(offset) }

// Mode is the address of the mode, whose width is half a word.
func (st Stat) Mode() Value { return st.Field(unsafe.Offsetof(unix.Statx_t{}.Mode)) }
