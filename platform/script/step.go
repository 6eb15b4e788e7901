package script

import "unsafe"

// action is what a step does.
type action uint32

const (
	call     action = iota + 1 // system call nr with args
	test                       // the word at args[0], under the mask args[1], equals args[2]
	set                        // the register into becomes args[0]
	store                      // the 32 bits at args[0] become args[1]
	relocate                   // args[1] offsets from args[0] on become addresses
	jump                       // go on at otherwise
	fail                       // as itself, or as what was remembered
)

// kind says what a value means when its step is carried out.
type kind uint8

const (
	plain    kind = iota
	offset        // the address of that place in the data
	register      // the content of that register
)

// step is one step, laid out the same at both ends.
type step struct {
	action    action
	into      uint32 // register for the result; 0 drops it
	number    uint64 // of the system call; elsewhere the error number if the step fails
	args      [6]uint64
	kinds     [6]kind
	remember  bool // the first failure of these is what fail reports
	_         byte
	otherwise uint32    // step to go on with after a failure, counted from 1; 0 ends the script
	only      [2]uint16 // the error numbers for which otherwise holds; zeros mean any
}

// header begins an image.
type header struct {
	size  uint64 // of the whole image, in bytes
	steps uint64
}

const (
	headerSize = unsafe.Sizeof(header{})
	stepSize   = unsafe.Sizeof(step{})
)

// HeaderSize is how much of an image [Size] reads.
const HeaderSize = int(headerSize)

// registers is how many there are; a power of two. Register 0 is never set.
const registers = 8

// Register holds a result for later steps.
type Register uint32

// The registers.
const (
	Subject Register = iota + 1 // what a Failure names beside its step
	FD                          // the file at hand
	Next                        // the one below it, on a walk
	Ruleset                     // the Landlock ruleset in the making
)

// Failure is why a script ended before its last step. The zero value says that
// it did not.
type Failure struct {
	Step    uint32 // counted from 1
	Errno   uint32
	Subject uint64 // what that register held: see [Script.TextAt]
}
