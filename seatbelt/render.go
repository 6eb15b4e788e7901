package seatbelt

import (
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// Budgets. The limits of the system's compiler are not documented; it was seen
// to fail above 65,535 bytes of patterns, and reading a literal of more than
// 1,025 bytes fails.
const (
	maxPattern  = 900      // bytes of one pattern
	maxPatterns = 48 << 10 // bytes of all distinct patterns
	maxRule     = 12 << 10 // bytes of one rule; longer ones are split
)

// Render translates what the kernel is to enforce into a profile. It reads
// nothing but its arguments. Patterns among the denies are written as
// expressions; expand e first so that what they match is closed by name too.
//
// Errors: *PathError for a path that cannot be quoted, *UnsupportedError for a
// policy that Seatbelt cannot express, *TooLargeError, and *RunError.
func Render(e policy.Effective, run Run) (Profile, error) {
	return render(e, run, standard())
}

// recipe is what determines a profile besides its input. Tests alter it to
// show that every part is needed.
type recipe struct {
	steps   []step
	classes map[policy.Access]class
	order   func(a, b place) int
	names   func(l layout, p string) []string // spellings of a closed path

	plantable func(l layout, p place) bool // whether case matters for a closed place
}

// step emits one section of a profile.
type step struct {
	name string
	emit func(r *renderer)
}

func standard() recipe {
	return recipe{
		steps: []step{
			{"header", header},
			{"floors", floors},
			{"processes", processes},
			{"sysctl", kernelState},
			{"services", services},
			{"ipc", ipc},
			{"devices", devices},
			{"system", system},
			{"network", network},
			{"entries", entries},
			{"patterns", patterns},
			{"metadata", metadata},
			{"pins", pins},
			{"reservations", reservations},
			{"whole trees", wholeTrees},
			{"device nodes", pinDevices},
		},
		classes: classes(),
		order:   shallowFirst,
		names:   layout.names,

		plantable: layout.plantable,
	}
}

func render(e policy.Effective, run Run, c recipe) (Profile, error) {
	if err := run.check(e); err != nil {
		return Profile{}, err
	}
	if err := checkNetwork(e, run); err != nil {
		return Profile{}, err
	}
	for _, l := range e.Links {
		if err := checkPath(l.Path, policy.Rule{Text: "link to " + l.Target}); err != nil {
			return Profile{}, err
		}
	}
	places, err := newLayout(e, run)
	if err != nil {
		return Profile{}, err
	}
	r := &renderer{effective: e, run: run, layout: places, recipe: c, patterns: map[string]bool{}}
	for _, s := range c.steps {
		s.emit(r)
	}
	if r.size > maxPatterns {
		return Profile{}, &TooLargeError{What: "patterns", Bytes: r.size, Limit: maxPatterns}
	}
	if r.longest > maxPattern {
		return Profile{}, &TooLargeError{What: "one pattern", Bytes: r.longest, Limit: maxPattern}
	}
	p := Profile{Text: r.out.String(), Partial: r.partial}
	for i, dir := range run.Private {
		p.Params = append(p.Params, Param{Name: paramName(i), Value: canonical(dir)})
	}
	return p, nil
}

// renderer collects the text of one profile.
type renderer struct {
	effective policy.Effective
	run       Run
	layout    layout
	recipe    recipe
	partial   []policy.Deny

	out      strings.Builder
	patterns map[string]bool // distinct filters so far
	size     int             // bytes of their arguments
	longest  int
}

func (r *renderer) line(s string) {
	r.out.WriteString(s)
	r.out.WriteByte('\n')
}

func (r *renderer) heading(s string) { r.line("\n; " + s) }

func (r *renderer) allow(ops []string, filters ...string) { r.rule("allow", ops, "", filters) }

func (r *renderer) deny(ops []string, filters ...string) {
	modifier := ""
	if r.run.Tag != "" && (len(filters) > 0 || slices.Equal(ops, []string{"default"})) {
		modifier = " (with message " + quote(r.run.Tag) + ")"
	}
	r.rule("deny", ops, modifier, filters)
}

// rule writes one rule, several if it would grow too long. Filters of a rule
// are alternatives, so splitting changes nothing.
func (r *renderer) rule(action string, ops []string, modifier string, filters []string) {
	if len(ops) == 0 {
		return
	}
	head := "(" + action + " " + strings.Join(ops, " ")
	if len(filters) == 0 {
		r.line(head + modifier + ")")
		return
	}
	for len(filters) > 0 {
		n, size := 0, len(head)+len(modifier)
		for n < len(filters) && (n == 0 || size+len(filters[n]) < maxRule) {
			size += len(filters[n]) + len("\n  ")
			r.count(filters[n])
			n++
		}
		separator := "\n  "
		if n == 1 {
			separator = " "
		}
		r.line(head + separator + strings.Join(filters[:n], separator) + modifier + ")")
		filters = filters[n:]
	}
}

// count adds a filter's argument to the budget, once.
func (r *renderer) count(filter string) {
	n := len(filter)
	if i, j := strings.IndexByte(filter, '"'), strings.LastIndexByte(filter, '"'); i < j {
		n = j - i - 1
	}
	r.longest = max(r.longest, n)
	if !r.patterns[filter] {
		r.patterns[filter] = true
		r.size += n
	}
}
