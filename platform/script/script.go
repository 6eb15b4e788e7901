package script

import (
	"bytes"
	"encoding/binary"
	"unsafe"
)

// Note says what steps are for, in the writer's words.
type Note struct {
	Stage string
	Path  string // what it is done to; may be empty
	Text  string // more than the kernel's word for the error; may be empty
}

// Script is a script in the making. Its zero value is not ready: see [New].
type Script struct {
	steps  []step
	notes  []Note
	noted  []uint32 // which of them a step has
	data   []byte
	texts  map[string]Value
	labels []uint32 // the step that each leads to, counted from 1; 0 until placed
	leads  []lead
}

// lead is a step that leads to a label.
type lead struct {
	step  int
	label Label
}

// Value is an argument of a step.
type Value struct {
	kind kind
	bits uint64
}

// Label is a place among the steps.
type Label int

// wordSize is that of a pointer: sbx's platforms all have 64 bits.
const wordSize = 8

// New returns an empty script. Its data begins with an unused word, so that no
// offset is the null pointer. There is room for what most runs need: to grow
// would touch twice the memory, which is most of what a script costs.
func New() *Script {
	return &Script{
		steps: make([]step, 0, 512),
		notes: make([]Note, 1, 64),
		noted: make([]uint32, 0, 512),
		data:  make([]byte, wordSize, 12<<10),
		texts: map[string]Value{},
	}
}

// Number is a plain argument. Negative ones are extended as C does.
func Number[T ~int | ~int32 | ~uint32 | ~uint64 | ~uintptr](n T) Value {
	return Value{bits: uint64(n)}
}

// In is what a register will hold.
func In(r Register) Value { return Value{kind: register, bits: uint64(r)} }

// Plus is the address n bytes further on.
func (v Value) Plus(n uintptr) Value {
	v.bits += uint64(n)
	return v
}

// Room adds n zeroed bytes, for the kernel to write to.
func (s *Script) Room(n uintptr) Value {
	return s.Bytes(make([]byte, n))
}

// Bytes adds data and returns its address, which is a multiple of a word.
func (s *Script) Bytes(b []byte) Value {
	for len(s.data)%wordSize != 0 {
		s.data = append(s.data, 0)
	}
	at := s.here()
	s.data = append(s.data, b...)
	return at
}

// Text adds a text, ended by a NUL as the kernel takes paths and arguments.
func (s *Script) Text(t string) Value {
	if v, ok := s.texts[t]; ok {
		return v
	}
	v := s.here()
	s.data = append(append(s.data, t...), 0)
	s.texts[t] = v
	return v
}

// Texts adds the array of pointers to texts that execve(2) takes.
func (s *Script) Texts(texts []string) Value {
	words := make([]Value, 0, len(texts)+1)
	for _, t := range texts {
		words = append(words, s.Text(t))
	}
	return s.Words(append(words, Value{})...)
}

// Words adds a struct or an array of whole words, and the steps that make
// pointers of the addresses among them.
func (s *Script) Words(values ...Value) Value {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, v.bits)
	}
	at := s.Bytes(b)
	for i, n := 0, 0; i < len(values); i += n + 1 {
		for n = 0; i+n < len(values) && values[i+n].kind == offset; {
			n++
		}
		if n > 0 {
			s.point(at.Plus(uintptr(i)*wordSize), n)
		}
	}
	return at
}

func (s *Script) here() Value { return Value{kind: offset, bits: uint64(len(s.data))} }

// TextAt returns the text at a place that a failure names; "" for none.
func (s *Script) TextAt(place uint64) string {
	if place == 0 || place >= uint64(len(s.data)) {
		return ""
	}
	t, _, _ := bytes.Cut(s.data[place:], []byte{0})
	return string(t)
}

// Note returns what a failed step was for.
func (s *Script) Note(f Failure) Note {
	if f.Step == 0 || int(f.Step) > len(s.noted) {
		return Note{}
	}
	return s.notes[s.noted[f.Step-1]]
}

// Image returns the script as one block, which [Perform] takes.
func (s *Script) Image() []byte {
	for _, l := range s.leads {
		s.steps[l.step].otherwise = s.labels[l.label]
	}
	steps := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s.steps))), uintptr(len(s.steps))*stepSize)
	image := make([]byte, 0, int(headerSize)+len(steps)+len(s.data))
	image = binary.LittleEndian.AppendUint64(image, uint64(cap(image)))
	image = binary.LittleEndian.AppendUint64(image, uint64(len(s.steps)))
	return append(append(image, steps...), s.data...)
}
