package main_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"
)

// print writes the table to the log and to SBX_ESCAPE_TABLE.
func (s *suite) print(t *testing.T) {
	if len(s.rows) == 0 {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "escape suite, uid %d: %d cases\n\n", os.Getuid(), len(s.rows))
	s.table(&b)
	s.counts(&b)
	s.gaps(&b)
	s.defects(&b)
	s.littleProof(&b)
	s.notRun(&b)
	t.Log("\n" + b.String())
	if file := os.Getenv("SBX_ESCAPE_TABLE"); file != "" {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
}

var armNames = map[arm]string{outside: "no sandbox", bare: "bare bwrap", bwrap: "sbx bwrap", builtin: "sbx builtin"}

func (s *suite) table(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 1, 2, ' ', 0)
	fmt.Fprint(w, "case\texpect")
	for _, a := range s.arms {
		fmt.Fprint(w, "\t"+armNames[a])
	}
	fmt.Fprintln(w, "\twhat it tries")
	for _, r := range s.rows {
		if r.skipped != "" {
			continue
		}
		fmt.Fprintf(w, "%s\t%s", r.c.ID, r.c.Expect)
		for _, a := range s.arms {
			fmt.Fprintf(w, "\t%s", r.outcomes[a])
		}
		fmt.Fprintf(w, "\t%s\n", r.c.Attack)
	}
	w.Flush()
}

func (s *suite) counts(b *strings.Builder) {
	fmt.Fprintln(b)
	for _, a := range s.arms {
		counts := map[state]int{}
		for _, r := range s.rows {
			if o, ran := r.outcomes[a]; ran && r.c.Expect == "block" && r.skipped == "" {
				counts[o.state]++
			}
		}
		fmt.Fprintf(b, "%-12s attacks blocked %d, refused %d, allowed %d\n", armNames[a]+":", counts[blocked], counts[refused], counts[allowed])
	}
	for a, why := range s.absent {
		fmt.Fprintf(b, "%-12s not here: %s\n", armNames[a]+":", why)
	}
}

// gaps lists what a backend cannot block by the guarantee that is missing.
func (s *suite) gaps(b *strings.Builder) {
	for _, a := range []arm{bwrap, builtin} {
		missing := map[string][]string{}
		for _, r := range s.rows {
			if g := r.c.gap(string(a), s.user); g != nil && r.skipped == "" {
				missing[g.guarantee] = append(missing[g.guarantee], fmt.Sprintf("    %s: %s", r.c.ID, g.reason))
			}
		}
		if len(missing) == 0 || !slices.Contains(s.arms, a) {
			continue
		}
		fmt.Fprintf(b, "\n%s cannot give:\n", armNames[a])
		for _, name := range sortedKeys(missing) {
			fmt.Fprintf(b, "  %s\n%s\n", name, strings.Join(missing[name], "\n"))
		}
	}
}

// defects lists the holes that are to be closed.
func (s *suite) defects(b *strings.Builder) {
	fmt.Fprintln(b)
	for _, a := range []arm{bwrap, builtin} {
		for _, r := range s.rows {
			if d := r.c.defect(string(a), s.user); d != nil && r.skipped == "" {
				fmt.Fprintf(b, "OPEN: %s, %s: %s\n    %s\n", armNames[a], r.c.ID, r.c.Attack, d.reason)
			}
		}
	}
}

func sortedKeys(m map[string][]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// littleProof lists the cases that are blocked without a sandbox too.
func (s *suite) littleProof(b *strings.Builder) {
	fmt.Fprintf(b, "\nblocked without a sandbox too (proves little):\n")
	for _, r := range s.rows {
		if r.skipped != "" || r.c.Expect != "block" || r.outcomes[outside].state == allowed || r.c.Control == nil {
			continue
		}
		note := ""
		if r.outcomes[bare].state == allowed {
			note = "; bare bwrap lets it through"
		}
		fmt.Fprintf(b, "  %-9s %s%s\n", r.c.ID, r.c.Control.reason, note)
	}
}

func (s *suite) notRun(b *strings.Builder) {
	fmt.Fprintf(b, "\nnot applicable:\n")
	for _, r := range s.rows {
		if r.skipped != "" {
			fmt.Fprintf(b, "  %-9s %s\n", r.c.ID, r.skipped)
		}
	}
}
