package seccomp

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"golang.org/x/net/bpf"
)

// Offsets in struct seccomp_data. The low half of an argument comes first, as
// both architectures are little endian.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
	sizeArg      = 8
)

// Compile translates the table of c. The program first kills foreign
// architectures, then finds the number by binary search, and looks at arguments
// only for the calls whose rows have tests. Errors are a [ConfigError].
func Compile(c Config) (Program, error) {
	if err := c.check(); err != nil {
		return Program{}, err
	}
	arch, _ := c.Arch.audit()
	t := translation{
		assembler: assembler{code: make([]bpf.RawInstruction, 0, 512)},
		rules:     Rules(c),
	}
	if len(t.rules) > maxRows {
		return Program{}, fmt.Errorf("system call filter: %d rows, room for %d", len(t.rules), maxRows)
	}
	t.ret(Allow)
	t.search(t.spans(c.Arch))
	nr := t.load(offsetNumber)
	t.branch(bpf.JumpEqual, arch, nr, t.ret(KillProcess))
	t.load(offsetArch)
	code, err := t.finish()
	if err != nil {
		return Program{}, fmt.Errorf("system call filter: %w", err)
	}
	return Program{arch: c.Arch, code: code}, nil
}

type translation struct {
	assembler
	rules  []Rule
	chains []chain
}

// rows is a set of indices into the table.
type rows uint64

// maxRows is how many rows the set holds.
const maxRows = 64

// span is a range of call numbers with one answer: from start to the next span.
type span struct {
	start  uint32
	rows   rows // that may apply; none: allowed
	beyond bool // the range above the table
}

// chain is the code for a set of rows, shared by the calls that have the same.
type chain struct {
	rows rows
	at   label
}

// spans covers all numbers, in order. Neighbours with the same rows are one span.
func (t *translation) spans(arch Arch) []span {
	calls := t.calls(arch)
	spans := make([]span, 1, 2*len(calls)+2)
	for _, c := range calls {
		spans = appendSpan(spans, c)
		spans = appendSpan(spans, span{start: c.start + 1})
	}
	// The x32 numbers lie beyond as well: they start at 0x40000000.
	return appendSpan(spans, span{start: lastReviewed + 1, beyond: true})
}

func appendSpan(spans []span, s span) []span {
	if spans[len(spans)-1].start == s.start { // the gap before s is empty
		spans = spans[:len(spans)-1]
	}
	if n := len(spans); n > 0 && spans[n-1].rows == s.rows && !s.beyond {
		return spans
	}
	return append(spans, s)
}

// calls lists the calls that arch has and the table names, by number.
func (t *translation) calls(arch Arch) []span {
	var byCall [callCount]rows
	for i, r := range t.rules {
		for _, c := range r.Calls {
			byCall[c] |= 1 << i
		}
	}
	calls := make([]span, 0, callCount)
	for c, rows := range byCall {
		if nr, ok := Call(c).Number(arch); ok && rows != 0 {
			calls = append(calls, span{start: nr, rows: t.deciding(rows)})
		}
	}
	slices.SortFunc(calls, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return calls
}

// deciding reduces a call without conditions to the first row that answers alike,
// so that its neighbours become one span with it.
func (t *translation) deciding(r rows) rows {
	first := t.rules[bits.TrailingZeros64(uint64(r))]
	if len(first.When) > 0 {
		return r
	}
	for i, like := range t.rules {
		if len(like.When) == 0 && like.Action == first.Action {
			return 1 << i
		}
	}
	return r
}

// search emits a balanced tree over spans; the number is in the accumulator.
func (t *translation) search(spans []span) label {
	if len(spans) == 1 {
		return t.answer(spans[0])
	}
	mid := len(spans) / 2
	high := t.search(spans[mid:])
	low := t.search(spans[:mid])
	return t.branch(bpf.JumpGreaterOrEqual, spans[mid].start, high, low)
}

func (t *translation) answer(s span) label {
	if s.beyond {
		return t.ret(Errno(enosys))
	}
	for _, c := range t.chains {
		if c.rows == s.rows {
			return c.at
		}
	}
	at := t.ret(Allow)
	for left := s.rows; left != 0; {
		last := bits.Len64(uint64(left)) - 1
		at = t.rule(t.rules[last], at)
		left &^= 1 << last
	}
	t.chains = append(t.chains, chain{rows: s.rows, at: at})
	return at
}

// rule emits the tests of r, with no as the way on if one does not hold.
func (t *translation) rule(r Rule, no label) label {
	yes := t.ret(r.Action)
	for _, test := range slices.Backward(r.When) {
		yes = t.test(test, yes, no)
	}
	return yes
}

func (t *translation) test(test Test, yes, no label) label {
	offset := offsetArgs + sizeArg*uint32(test.Arg)
	if test.anyBit() {
		t.branch(bpf.JumpBitsSet, test.Mask, yes, no)
		return t.load(offset)
	}
	if test.Not {
		yes, no = no, yes
	}
	if len(test.Values) == 0 {
		return no
	}
	other := no
	for _, v := range slices.Backward(test.Values) {
		other = t.branch(bpf.JumpEqual, v, yes, other)
	}
	if test.Mask != wholeWord {
		t.mask(test.Mask)
	}
	return t.load(offset)
}
