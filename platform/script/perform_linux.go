package script

import (
	"syscall"
	"unsafe"
)

// Size is what the header of an image says of the whole.
//
//go:nosplit
func Size(head unsafe.Pointer) uintptr { return uintptr((*header)(head).size) }

// Perform carries a script out on the calling thread, and returns when it has
// come to its end or failed. The image must not move meanwhile; it is changed.
//
// This is the one part of sbx that may run without a Go runtime behind it: no
// allocation, no stack growth, no write barrier, no panic, nothing called but
// the kernel.
//
//go:nosplit
//go:norace
func Perform(image unsafe.Pointer) Failure {
	head := (*header)(image)
	data := unsafe.Add(image, headerSize+uintptr(head.steps)*stepSize)
	var regs [registers]uint64
	var remembered Failure
	for at := uint64(0); at < head.steps; {
		s := (*step)(unsafe.Add(image, headerSize+uintptr(at)*stepSize))
		at++
		errno, done := s.perform(data, &regs)
		if done {
			continue
		}
		failure := Failure{Step: uint32(at), Errno: errno}
		if s.remember && remembered.Step == 0 && errno != uint32(syscall.ENOENT) && errno != uint32(syscall.ENOTDIR) {
			remembered = failure
		}
		if s.otherwise != 0 && s.goesOn(errno) {
			at = uint64(s.otherwise) - 1
			continue
		}
		if s.action == fail && s.remember && remembered.Step != 0 {
			failure = remembered
		}
		if regs[Subject] != 0 {
			failure.Subject = regs[Subject] - uint64(uintptr(data))
		}
		return failure
	}
	return Failure{}
}

//go:nosplit
//go:norace
func (s *step) goesOn(errno uint32) bool {
	return s.only[0] == 0 || errno == uint32(s.only[0]) || s.only[1] != 0 && errno == uint32(s.only[1])
}

// perform carries one step out, unless that fails. A jump is a step that never
// succeeds.
//
//go:nosplit
//go:norace
func (s *step) perform(data unsafe.Pointer, regs *[registers]uint64) (errno uint32, done bool) {
	switch s.action {
	case call:
		r, _, e := syscall.RawSyscall6(uintptr(s.number), s.arg(0, data, regs), s.arg(1, data, regs), s.arg(2, data, regs),
			s.arg(3, data, regs), s.arg(4, data, regs), s.arg(5, data, regs))
		if e == 0 {
			s.keep(uint64(r), regs)
		}
		return uint32(e), e == 0
	case test:
		word := *(*uint64)(unsafe.Add(data, uintptr(s.args[0])))
		return uint32(s.number), word&s.args[1] == s.args[2]
	case set:
		s.keep(uint64(s.arg(0, data, regs)), regs)
	case store:
		*(*uint32)(unsafe.Add(data, uintptr(s.args[0]))) = uint32(s.arg(1, data, regs))
	case relocate:
		for i := uintptr(0); i < uintptr(s.args[1]); i++ {
			*(*uintptr)(unsafe.Add(data, uintptr(s.args[0])+i*wordSize)) += uintptr(data)
		}
	default: // jump, fail
		return uint32(s.number), false
	}
	return 0, true
}

//go:nosplit
//go:norace
func (s *step) keep(v uint64, regs *[registers]uint64) {
	if s.into != 0 {
		regs[s.into%registers] = v
	}
}

//go:nosplit
//go:norace
func (s *step) arg(i int, data unsafe.Pointer, regs *[registers]uint64) uintptr {
	v := s.args[i%len(s.args)]
	switch s.kinds[i%len(s.kinds)] {
	case offset:
		return uintptr(data) + uintptr(v)
	case register:
		return uintptr(regs[v%registers])
	}
	return uintptr(v)
}
