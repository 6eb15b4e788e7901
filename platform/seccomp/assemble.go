package seccomp

import (
	"errors"
	"slices"

	"golang.org/x/net/bpf"
)

// label is a place in a program under construction: the index of an instruction
// in the reversed code.
type label int

// assembler builds a program from its end to its start. BPF jumps forward only,
// so that every target exists by the time that it is needed, and its distance is
// known. Instructions that do not jump continue with the one emitted before.
type assembler struct {
	code     []bpf.RawInstruction // last instruction first
	verdicts []verdict            // the nearest copy of each return
	err      error
}

type verdict struct {
	action Action
	at     label
}

// reach is the distance that a conditional jump may span, less one for a copy
// that the other arm of the same jump may insert.
const reach = 255 - 1

func (a *assembler) emit(in bpf.RawInstruction, err error) label {
	a.err = errors.Join(a.err, err)
	a.code = append(a.code, in)
	return label(len(a.code) - 1)
}

// distance is the number of instructions that the next one skips to get to l.
func (a *assembler) distance(l label) int { return len(a.code) - 1 - int(l) }

// ret is the place of a return with action.
func (a *assembler) ret(action Action) label {
	for _, v := range a.verdicts {
		if v.action == action {
			return v.at
		}
	}
	l := a.emit(bpf.RetConstant{Val: uint32(action)}.Assemble())
	a.verdicts = append(a.verdicts, verdict{action, l})
	return l
}

// near returns l, or a stand-in for it that a conditional jump can reach: another
// copy of a return, else an unconditional jump.
func (a *assembler) near(l label) label {
	if a.distance(l) <= reach {
		return l
	}
	target, isReturn := a.code[l].Disassemble().(bpf.RetConstant)
	if !isReturn {
		return a.emit(bpf.Jump{Skip: uint32(a.distance(l))}.Assemble())
	}
	for i, v := range a.verdicts {
		if v.action == Action(target.Val) && a.distance(v.at) > reach {
			a.verdicts[i].at = a.emit(target.Assemble())
		}
	}
	return a.ret(Action(target.Val))
}

// branch goes to yes if the accumulator compares with v as cond says, else to no.
func (a *assembler) branch(cond bpf.JumpTest, v uint32, yes, no label) label {
	yes, no = a.near(yes), a.near(no)
	return a.emit(bpf.JumpIf{
		Cond: cond, Val: v,
		SkipTrue: uint8(a.distance(yes)), SkipFalse: uint8(a.distance(no)),
	}.Assemble())
}

// load reads a word of seccomp_data and continues with the latest instruction.
func (a *assembler) load(offset uint32) label {
	return a.emit(bpf.LoadAbsolute{Off: offset, Size: 4}.Assemble())
}

// mask clears bits of the accumulator and continues with the latest instruction.
func (a *assembler) mask(bits uint32) label {
	return a.emit(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: bits}.Assemble())
}

// finish returns the code in the order of execution.
func (a *assembler) finish() ([]bpf.RawInstruction, error) {
	if a.err != nil {
		return nil, a.err
	}
	slices.Reverse(a.code)
	return a.code, nil
}
