package sbpltest

import (
	"fmt"
	"slices"
)

// CompileError is a form that libsandbox or the closed subset refuses.
type CompileError struct {
	Line   int
	Reason string
}

func (e *CompileError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Profile is a compiled profile, ready to be asked.
type Profile struct {
	rules []rule
	byOp  map[string][]int // positions in rules, in file order
	forms []Node
}

// rule is one (allow ...) or (deny ...).
type rule struct {
	allow   bool
	ops     []string
	filters []filter // OR
	line    int
	bytes   int
	message string
}

// Compile reads source and compiles it with the values of (param "NAME"). An
// error anywhere refuses the whole profile.
func Compile(source string, params map[string]string) (*Profile, error) {
	forms, err := Read(source)
	if err != nil {
		return nil, err
	}
	c := compiler{params: params}
	p := &Profile{byOp: map[string][]int{}, forms: forms}
	if len(forms) == 0 || forms[0].Head() != "version" {
		return nil, &CompileError{Line: 1, Reason: "no version specified"}
	}
	if v := forms[0].Items; len(v) != 2 || v[1].Kind != Number || v[1].Atom != "1" {
		return nil, c.fail(forms[0], "only (version 1) is in the subset")
	}
	for _, form := range forms[1:] {
		r, err := c.rule(form)
		if err != nil {
			return nil, err
		}
		for _, op := range r.ops {
			p.byOp[op] = append(p.byOp[op], len(p.rules))
		}
		p.rules = append(p.rules, r)
	}
	return p, nil
}

type compiler struct {
	params map[string]string
}

func (c *compiler) fail(n Node, format string, args ...any) error {
	return &CompileError{Line: n.Line, Reason: fmt.Sprintf(format, args...)}
}

// rule compiles one top-level form. Other forms of the language, such as
// define, if, import and debug, are outside the subset.
func (c *compiler) rule(form Node) (rule, error) {
	head := form.Head()
	if head != "allow" && head != "deny" {
		return rule{}, c.fail(form, "unbound or unsupported form %q", head)
	}
	r := rule{allow: head == "allow", line: form.Line, bytes: form.Bytes}
	var takes class
	for _, n := range form.Items[1:] {
		var err error
		switch {
		case n.Kind == Symbol:
			takes, err = c.operation(&r, n, takes)
		case n.Head() == "with":
			err = c.modifier(&r, n)
		case n.Kind == List:
			var f filter
			if f, err = c.filter(n, takes); err == nil {
				r.filters = append(r.filters, f)
			}
		default:
			err = c.fail(n, "%q is neither operation nor filter", n.Atom)
		}
		if err != nil {
			return rule{}, err
		}
	}
	if len(r.ops) == 0 {
		return rule{}, c.fail(form, "%s without an operation", head)
	}
	return r, nil
}

// operation adds an operation. Operations stand before filters here; what
// libsandbox does with another order is not known.
func (c *compiler) operation(r *rule, n Node, takes class) (class, error) {
	name, ok := canonicalOperation(n.Atom)
	if !ok {
		return 0, c.fail(n, "unbound variable: %s", n.Atom)
	}
	if len(r.filters) > 0 {
		return 0, c.fail(n, "operation %s after a filter", n.Atom)
	}
	if slices.Contains(r.ops, name) {
		return 0, c.fail(n, "operation %s twice", n.Atom)
	}
	own := operations[name].takes
	if len(r.ops) > 0 {
		own &= takes
	}
	r.ops = append(r.ops, name)
	return own, nil
}

// modifier compiles (with ...). Missing on purpose: no-sandbox, which lets a
// child run outside, and send-signal.
func (c *compiler) modifier(r *rule, n Node) error {
	words := n.Items[1:]
	if len(words) == 0 || words[0].Kind != Symbol {
		return c.fail(n, "(with) without a modifier")
	}
	switch name := words[0].Atom; {
	case name == "message" && len(words) == 2 && words[1].Kind == Text:
		r.message = words[1].Atom
	case (name == "no-log" || name == "no-report") && len(words) == 1 && !r.allow:
	case name == "report" && len(words) == 1 && r.allow:
	default:
		return c.fail(n, "modifier %s is refused here", name)
	}
	return nil
}
