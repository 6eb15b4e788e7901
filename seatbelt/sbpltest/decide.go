package sbpltest

import (
	"fmt"
	"strings"
)

// Semantics is one reading of how Seatbelt decides. The zero value is the
// strictest reading by file order; SStar is the one that all collected facts
// fit.
type Semantics struct {
	// OpSpecific: a rule that names the operation itself beats any rule that
	// names a parent, wherever either stands. Otherwise the rules of an
	// operation and of its parents, up to but without "default", compete as
	// one list.
	OpSpecific bool
	// UnfilteredIsFloor: a rule without filter decides only where no rule
	// with a filter matched. Otherwise it takes part in file order.
	UnfilteredIsFloor bool
	// TerminalOps: the operations that the 10.15 tables mark as terminal end
	// the search with the table's action. Otherwise they fall back to
	// "default" like the others.
	TerminalOps bool
	// FoldCase: path filters compare without regard to case, as reported for
	// the default APFS volume, instead of byte by byte.
	FoldCase bool
}

// SStar is the model that fits every collected fact.
var SStar = Semantics{OpSpecific: true, UnfilteredIsFloor: true, TerminalOps: true}

// Readings are the five readings that a generated profile must not depend on.
func Readings() []Semantics {
	return []Semantics{
		SStar,
		{OpSpecific: false, UnfilteredIsFloor: true, TerminalOps: true},
		{OpSpecific: true, UnfilteredIsFloor: false, TerminalOps: true},
		{OpSpecific: false, UnfilteredIsFloor: false, TerminalOps: true},
		{OpSpecific: true, UnfilteredIsFloor: true, TerminalOps: false},
	}
}

// String gives one letter a field in order, as in TTF, and "+fold" at the end.
func (s Semantics) String() string {
	var b strings.Builder
	for _, on := range []bool{s.OpSpecific, s.UnfilteredIsFloor, s.TerminalOps} {
		if on {
			b.WriteByte('T')
		} else {
			b.WriteByte('F')
		}
	}
	if s.FoldCase {
		b.WriteString("+fold")
	}
	return b.String()
}

// Decision is the answer to a Query. Line is that of the rule that decided, 0
// for a terminal operation's own action and for a profile without a default.
type Decision struct {
	Allowed bool
	Line    int
}

// Matches holds which rules apply to one Query, so that several semantics can
// be asked without matching again.
type Matches struct {
	profile *Profile
	levels  []level
}

// level is one operation of the search: positions of rules, -1 for none.
type level struct {
	end        terminal
	root       bool // the operation is "default"
	filtered   int  // last rule with a filter that matches
	unfiltered int  // last rule without a filter
}

// Match finds the rules that apply to q. It panics on an operation that the
// tables do not have: the question is wrong, not the profile.
func (p *Profile) Match(q Query, foldCase bool) Matches {
	o := object{Query: q}
	if foldCase {
		o.folded = strings.ToLower(q.Path)
	}
	if _, ok := operations[q.Op]; !ok {
		panic(fmt.Sprintf("sbpltest: no operation %q", q.Op))
	}
	m := Matches{profile: p, levels: make([]level, 0, 4)}
	for name := q.Op; ; name = operations[name].parent {
		m.levels = append(m.levels, p.level(name, &o))
		if name == "default" {
			return m
		}
	}
}

// level finds the rules of one operation that could decide.
func (p *Profile) level(name string, o *object) level {
	l := level{end: operations[name].end, root: name == "default", filtered: -1, unfiltered: -1}
	positions := p.byOp[name]
	for i := len(positions) - 1; i >= 0; i-- {
		r := &p.rules[positions[i]]
		if len(r.filters) == 0 {
			l.unfiltered = max(l.unfiltered, positions[i])
			continue
		}
		if l.filtered < 0 && r.matches(o) {
			l.filtered = positions[i]
		}
	}
	return l
}

func (r *rule) matches(o *object) bool {
	for i := range r.filters {
		if r.filters[i].matches(o) {
			return true
		}
	}
	return false
}

// Decide answers q under s.
func (p *Profile) Decide(q Query, s Semantics) Decision {
	return p.Match(q, s.FoldCase).Decide(s)
}

// Decide answers under s.
func (m Matches) Decide(s Semantics) Decision {
	if s.OpSpecific {
		return m.byOperation(s)
	}
	return m.flat(s)
}

// byOperation asks operation by operation, from the concrete one up.
func (m Matches) byOperation(s Semantics) Decision {
	for _, l := range m.levels {
		if at := l.choose(s.UnfilteredIsFloor); at >= 0 {
			return m.rule(at)
		}
		if s.TerminalOps && l.end != falls {
			return Decision{Allowed: l.end == endsAllow}
		}
	}
	return Decision{}
}

// flat lets all operations below "default" compete. "default" stays last: a
// final (allow default) after narrower rules ships in Homebrew's profile.
func (m Matches) flat(s Semantics) Decision {
	all := level{filtered: -1, unfiltered: -1}
	for _, l := range m.levels {
		if l.root {
			continue
		}
		all.filtered = max(all.filtered, l.filtered)
		all.unfiltered = max(all.unfiltered, l.unfiltered)
		if s.TerminalOps && l.end != falls {
			all.end = l.end
			break
		}
	}
	if at := all.choose(s.UnfilteredIsFloor); at >= 0 {
		return m.rule(at)
	}
	if all.end != falls {
		return Decision{Allowed: all.end == endsAllow}
	}
	root := m.levels[len(m.levels)-1]
	if at := root.choose(s.UnfilteredIsFloor); at >= 0 {
		return m.rule(at)
	}
	return Decision{}
}

// choose picks the rule that decides at this level, -1 for none.
func (l level) choose(floor bool) int {
	if floor && l.filtered >= 0 {
		return l.filtered
	}
	return max(l.filtered, l.unfiltered)
}

func (m Matches) rule(at int) Decision {
	r := m.profile.rules[at]
	return Decision{Allowed: r.allow, Line: r.line}
}
