package seccomp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rule is one row of the table: if a call is one of Calls and every test holds,
// the kernel answers with Action. Rules are tried in order and the first that
// applies decides; a call that none applies to is allowed.
type Rule struct {
	Calls  []Call
	When   []Test // all must hold; none: always
	Action Action
	Reason string // what the row protects from
}

// Test compares the low 32 bits of one argument, after masking, with a list.
// It holds if the masked value is in the list, or, with Not, if it is not.
//
// There is no way to look at the upper half. The kernel cuts int arguments
// to 32 bits, so a test on all 64 would be evaded by setting a bit that the
// kernel then ignores.
type Test struct {
	Arg    uint8  // 0 to 5
	Mask   uint32 // applied before the comparison
	Not    bool
	Values []uint32
}

// Action is what the kernel does with a call, in the encoding of
// SECCOMP_RET_* in linux/seccomp.h.
type Action uint32

// The actions besides [Errno].
const (
	Allow       Action = 0x7fff0000
	KillProcess Action = 0x80000000
)

const (
	retErrno   = 0x00050000
	retErrnoNo = 0x0000ffff
)

// Errnos of the table. They are Linux's on both architectures; package syscall
// would give the numbers of the system that the compiler runs on.
const (
	eperm           = 1
	enosys          = 38
	eprotonosupport = 93
	esocktnosupport = 94
	eafnosupport    = 97
)

// Errno is the action that fails the call with a Linux error number (1 to
// 4095) without running it.
func Errno(n uint16) Action { return retErrno | Action(n) }

// Errno returns the error number that a refused call sees, and 0 for the other
// actions.
func (a Action) Errno() uint16 {
	if a&^retErrnoNo != retErrno {
		return 0
	}
	return uint16(a & retErrnoNo)
}

// String returns "allow", "kill", or the name of the errno.
func (a Action) String() string {
	switch a {
	case Allow:
		return "allow"
	case KillProcess:
		return "kill"
	case Errno(eperm):
		return "EPERM"
	case Errno(enosys):
		return "ENOSYS"
	case Errno(eprotonosupport):
		return "EPROTONOSUPPORT"
	case Errno(esocktnosupport):
		return "ESOCKTNOSUPPORT"
	case Errno(eafnosupport):
		return "EAFNOSUPPORT"
	}
	return fmt.Sprintf("Action(%#x)", uint32(a))
}

// String returns the row as one line: calls, condition, action, reason.
func (r Rule) String() string {
	var b strings.Builder
	for i, c := range r.Calls {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(c.String())
	}
	for i, t := range r.When {
		b.WriteString([...]string{" if ", " and "}[min(i, 1)])
		b.WriteString(t.String())
	}
	fmt.Fprintf(&b, ": %v (%s)", r.Action, r.Reason)
	return b.String()
}

// String returns the test as an expression, such as "arg1&0xf00 in 0x100 0x200".
func (t Test) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "arg%d", t.Arg)
	if t.Mask != wholeWord {
		fmt.Fprintf(&b, "&%#x", t.Mask)
	}
	if t.anyBit() {
		return b.String()
	}
	if t.Not {
		b.WriteString(" not")
	}
	b.WriteString(" in")
	for _, v := range t.Values {
		b.WriteString(" 0x" + strconv.FormatUint(uint64(v), 16))
	}
	return b.String()
}

// wholeWord is the mask that leaves the argument as it is.
const wholeWord = ^uint32(0)

// is holds if the argument is one of values.
func is(arg uint8, values ...uint32) Test { return Test{Arg: arg, Mask: wholeWord, Values: values} }

// isNot holds if the argument is none of values.
func isNot(arg uint8, values ...uint32) Test {
	return Test{Arg: arg, Mask: wholeWord, Not: true, Values: values}
}

// field holds if the bits of the argument under mask are one of values.
func field(arg uint8, mask uint32, values ...uint32) Test {
	return Test{Arg: arg, Mask: mask, Values: values}
}

// fieldNot holds if the bits of the argument under mask are none of values.
func fieldNot(arg uint8, mask uint32, values ...uint32) Test {
	return Test{Arg: arg, Mask: mask, Not: true, Values: values}
}

// anyOf holds if the argument has any bit of mask.
func anyOf(arg uint8, mask uint32) Test { return fieldNot(arg, mask, 0) }

// anyBit reports the form of anyOf, for which BPF has one instruction.
func (t Test) anyBit() bool { return t.Not && slices.Equal(t.Values, []uint32{0}) }
