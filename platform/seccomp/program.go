package seccomp

import (
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/net/bpf"
)

// Program is a compiled filter. It does not change and is safe to share. The zero
// Program is no filter; [Install] refuses it.
type Program struct {
	arch Arch
	code []bpf.RawInstruction
}

// instructionSize is the size of struct sock_filter in bytes.
const instructionSize = 8

// Arch returns the architecture that the program is for.
func (p Program) Arch() Arch { return p.arch }

// Len returns the number of instructions. The kernel takes at most 4096.
func (p Program) Len() int { return len(p.code) }

// Bytes returns the program as an array of struct sock_filter, the form in which
// bubblewrap reads it from the descriptor of --seccomp.
func (p Program) Bytes() []byte {
	b := make([]byte, 0, len(p.code)*instructionSize)
	for _, in := range p.code {
		b = binary.LittleEndian.AppendUint16(b, in.Op)
		b = append(b, in.Jt, in.Jf)
		b = binary.LittleEndian.AppendUint32(b, in.K)
	}
	return b
}

// String lists the program, one instruction a line, with jump targets as line
// numbers.
func (p Program) String() string {
	var b strings.Builder
	for i, in := range p.code {
		fmt.Fprintf(&b, "%3d  %s\n", i, listing(i, in))
	}
	return b.String()
}

func listing(at int, in bpf.RawInstruction) string {
	switch in := in.Disassemble().(type) {
	case bpf.LoadAbsolute:
		return "load " + word(in.Off)
	case bpf.ALUOpConstant:
		return fmt.Sprintf("and  %#x", in.Val)
	case bpf.Jump:
		return fmt.Sprintf("goto %d", at+1+int(in.Skip))
	case bpf.JumpIf:
		yes, no := at+1+int(in.SkipTrue), at+1+int(in.SkipFalse)
		relation, negated := relation(in.Cond)
		if negated {
			yes, no = no, yes
		}
		return fmt.Sprintf("if %s %#x then %d else %d", relation, in.Val, yes, no)
	case bpf.RetConstant:
		return "ret  " + Action(in.Val).String()
	default:
		return fmt.Sprintf("%v", in)
	}
}

// relation undoes the disassembler's habit of negating a test whose true arm is
// empty.
func relation(c bpf.JumpTest) (sign string, negated bool) {
	switch c {
	case bpf.JumpEqual, bpf.JumpNotEqual:
		return "==", c == bpf.JumpNotEqual
	case bpf.JumpGreaterOrEqual, bpf.JumpLessThan:
		return ">=", c == bpf.JumpLessThan
	case bpf.JumpBitsSet, bpf.JumpBitsNotSet:
		return "&", c == bpf.JumpBitsNotSet
	}
	return fmt.Sprintf("JumpTest(%d)", c), false
}

func word(offset uint32) string {
	switch offset {
	case offsetNumber:
		return "number"
	case offsetArch:
		return "arch"
	}
	return fmt.Sprintf("arg%d", (offset-offsetArgs)/sizeArg)
}
