package seatbelt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sbx-run/sbx/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mutation is a renderer with one part broken. The suite must see it.
type mutation struct {
	name  string
	alter func(r *recipe)
	// silent says why no decision changes; "" if one has to.
	silent string
	// only lists readings that must see it, where not all do.
	only []string
}

var mutations = []mutation{
	{name: "entries deep to shallow", alter: func(r *recipe) {
		r.order = func(a, b place) int { return shallowFirst(b, a) }
	}},
	{name: "entries by path alone", alter: func(r *recipe) {
		r.order = func(a, b place) int { return strings.Compare(b.Path, a.Path) }
	}},
	{name: "no pins", alter: without("pins")},
	{name: "pins before entries", alter: before("pins", "entries")},
	{name: "no reservations", alter: without("reservations")},
	{name: "reservations before entries", alter: before("reservations", "entries"), only: []string{"FTT", "FFT"}},
	{name: "no ancestors", alter: without("metadata")},
	{name: "ancestors before entries", alter: before("metadata", "entries")},
	{name: "base after entries", alter: before("patterns", "system")},
	{name: "network after entries", alter: before("patterns", "network")},
	{name: "devices after entries", alter: before("patterns", "devices")},
	{name: "device nodes not pinned", alter: without("device nodes")},
	{name: "trees can be cloned", alter: without("whole trees")},
	{name: "tree clones before entries", alter: before("whole trees", "entries")},
	{name: "no floors", alter: without("floors")},
	{name: "floors at the end", alter: before("", "floors"), only: []string{"TFT", "FFT"}},
	{name: "no floor for hard links", alter: floor("file-link"), only: []string{"TTT", "FTT", "TFT", "FFT"}},
	{name: "no floor for clones", alter: floor("file-clone"), only: []string{"TTT", "FTT", "TFT", "FFT"}},
	{name: "no floor for existence", alter: floor("file-test-existence"), only: []string{"TTT", "FTT", "TFT", "FFT"}},
	{name: "no floor for process information", alter: floor("process-info*"), only: []string{"TTT", "FTT", "TFT", "FFT"}},
	{name: "no floor for code signatures", alter: floor("process-info-codesignature"), only: []string{"TTT", "FTT", "TFT", "FFT"}},
	{name: "no floor for nvram", alter: floor("nvram*"), only: []string{"TTT", "FTT", "TFT", "FFT"}},
	{name: "mapping programs not stated", alter: floor("file-map-executable"), only: []string{"TTF"}},
	{name: "no floor for setuid bits", alter: floor("file-write-setugid"),
		silent: "the tables deny it, and so does the default"},
	{name: "sysctl denies first", alter: reversed("sysctl")},
	{name: "services whatever the network", alter: func(r *recipe) {
		r.replace("services", func(x *renderer) {
			y := *x
			y.out = strings.Builder{}
			y.effective.Network.Mode = policy.NetworkOn
			services(&y)
			x.out.WriteString(y.out.String())
		})
	}},
	{name: "hidden: data instead of all reading", alter: inClass(policy.None, deny, "file-read*", "file-read-data")},
	{name: "hidden: writing left out", alter: inClass(policy.None, deny, "file-write*", "")},
	{name: "hidden: executing left out", alter: inClass(policy.None, deny, "process-exec*", "")},
	{name: "hidden: clones left out", alter: inClass(policy.None, deny, "file-clone", "")},
	{name: "hidden: links left out", alter: inClass(policy.None, deny, "file-link", "")},
	{name: "hidden: existence left out", alter: inClass(policy.None, deny, "file-test-existence", "")},
	{name: "hidden: unlink not named", alter: inClass(policy.None, deny, "file-write-unlink", "")},
	{name: "hidden: sockets left out", alter: inClass(policy.None, deny, "network-outbound", "")},
	{name: "read-only: writing not denied", alter: inClass(policy.Read, deny, "file-write*", "")},
	{name: "read-only: links not denied", alter: inClass(policy.Read, deny, "file-link", "")},
	{name: "read-only: unlink not named", alter: inClass(policy.Read, deny, "file-write-unlink", "")},
	{name: "read-only: clones not allowed", alter: inClass(policy.Read, allow, "file-clone", "")},
	{name: "read-write: links not allowed", alter: inClass(policy.ReadWrite, allow, "file-link", "")},
	{name: "read-write: unlink not named", alter: inClass(policy.ReadWrite, allow, "file-write-unlink", "")},
	{name: "drop box: reading not denied", alter: inClass(policy.Write, deny, "file-read*", "")},
	{name: "drop box: unlink not denied", alter: inClass(policy.Write, deny, "file-write-unlink", "")},
	{name: "drop box: executing not denied", alter: inClass(policy.Write, deny, "process-exec*", "")},
	{name: "closed places under one name", alter: func(r *recipe) {
		r.names = func(_ layout, p string) []string { return []string{p} }
	}},
	{name: "closed places in one form", alter: func(r *recipe) {
		r.names = func(l layout, p string) []string {
			return slices.DeleteFunc(l.names(p), func(name string) bool {
				return name != p && (name == compose(p) || name == decompose(p))
			})
		}
	}},
	{name: "closed places in one case", alter: func(r *recipe) { r.plantable = func(layout, place) bool { return false } }},
}

// TestMutations breaks the renderer part by part and counts the decisions that
// change, per reading, and the second names that show more.
func TestMutations(t *testing.T) {
	t.Parallel()
	const policies = 60
	var table strings.Builder
	fmt.Fprintf(&table, "differing decisions on %d policies\n%-38s", policies+len(handmade()), "")
	for _, s := range readings {
		fmt.Fprintf(&table, "%9s", s)
	}
	fmt.Fprintf(&table, "%9s\n", "names")
	for _, m := range mutations {
		counts, names := m.run(t, policies)
		fmt.Fprintf(&table, "%-38s", m.name)
		for _, n := range counts {
			fmt.Fprintf(&table, "%9d", n)
		}
		fmt.Fprintf(&table, "%9d\n", names)
		m.check(t, counts, names)
	}
	t.Log("\n" + table.String())
}

// run returns the differences per reading, and the stray names.
func (m mutation) run(t *testing.T, policies uint64) (counts []int, names int) {
	r := standard()
	m.alter(&r)
	counts = make([]int, len(readings))
	cases := handmade()
	for n := range policies {
		cases = append(cases, generate(4*n)) // every fourth is asked with case folded too
	}
	for i, c := range cases {
		p := compileCase(t, c, r)
		found, _ := disagreements(c, p, 0)
		for _, d := range found {
			counts[d.reading]++
		}
		if i%2 == 0 || i < len(handmade()) {
			names += len(strayNames(c, p, 0))
		}
	}
	return counts, names
}

func (m mutation) check(t *testing.T, counts []int, names int) {
	t.Helper()
	total := names
	for i, s := range readings {
		total += counts[i]
		if slices.Contains(m.only, s.String()) {
			assert.Positive(t, counts[i], "%s under %s", m.name, s)
		}
		if len(m.only) > 0 && !slices.Contains(m.only, s.String()) && !s.FoldCase {
			assert.Zero(t, counts[i], "%s under %s: the table is out of date", m.name, s)
		}
	}
	if m.silent != "" {
		assert.Zero(t, total, "%s: %s no longer", m.name, m.silent)
		return
	}
	assert.Positive(t, total, "%s is not noticed", m.name)
}

// Ways to break a recipe.

func (r *recipe) index(name string) int {
	return slices.IndexFunc(r.steps, func(s step) bool { return s.name == name })
}

func (r *recipe) replace(name string, emit func(*renderer)) {
	r.steps = slices.Clone(r.steps)
	r.steps[r.index(name)].emit = emit
}

func without(name string) func(*recipe) {
	return func(r *recipe) { r.replace(name, func(*renderer) {}) }
}

// before moves one step to stand before another; "" is the end. Where the
// first stands earlier already, the second is moved behind it.
func before(first, second string) func(*recipe) {
	return func(r *recipe) {
		steps := slices.Clone(r.steps)
		move := func(name string, to func() int) {
			i := slices.IndexFunc(steps, func(s step) bool { return s.name == name })
			s := steps[i]
			steps = slices.Delete(steps, i, i+1)
			steps = slices.Insert(steps, to(), s)
		}
		at := func(name string) int { return slices.IndexFunc(steps, func(s step) bool { return s.name == name }) }
		switch {
		case first == "":
			move(second, func() int { return len(steps) })
		case at(first) > at(second) && first != "patterns":
			move(first, func() int { return at(second) })
		default:
			move(second, func() int { return at(first) + 1 })
		}
		r.steps = steps
	}
}

// floor leaves one line out of the floors.
func floor(op string) func(*recipe) {
	return func(r *recipe) {
		r.replace("floors", func(x *renderer) {
			y := *x
			y.out = strings.Builder{}
			floors(&y)
			for line := range strings.Lines(y.out.String()) {
				if !strings.HasSuffix(line, " "+op+")\n") {
					x.out.WriteString(line)
				}
			}
		})
	}
}

// reversed emits the rules of a step backwards; each must be on lines of its
// own that start with "(".
func reversed(name string) func(*recipe) {
	return func(r *recipe) {
		emit := r.steps[r.index(name)].emit
		r.replace(name, func(x *renderer) {
			y := *x
			y.out = strings.Builder{}
			emit(&y)
			rules := strings.Split(y.out.String(), "\n(")
			for _, rule := range slices.Backward(rules[1:]) {
				x.line("(" + strings.TrimSuffix(rule, "\n"))
			}
		})
	}
}

type side bool

const (
	allow side = true
	deny  side = false
)

// inClass replaces an operation in what an access class allows or denies.
func inClass(a policy.Access, s side, op, by string) func(*recipe) {
	return func(r *recipe) {
		c := r.classes[a]
		list := &c.deny
		if s == allow {
			list = &c.allow
		}
		i := slices.Index(*list, op)
		if i < 0 {
			panic(op + " is not in the class")
		}
		changed := slices.Clone(*list)
		if by == "" {
			changed = slices.Delete(changed, i, i+1)
		} else {
			changed[i] = by
		}
		*list = changed
		r.classes[a] = c
	}
}

func TestMutationsNameKnownSteps(t *testing.T) {
	t.Parallel()
	for _, m := range mutations {
		r := standard()
		require.NotPanics(t, func() { m.alter(&r) }, m.name)
	}
}
