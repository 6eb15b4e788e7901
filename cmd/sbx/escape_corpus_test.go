package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// catalogue lists the rows of the reference by area: each must have a case.
var catalogue = map[string]int{"FS": 57, "NET": 18, "IPC": 5, "PROC": 14, "SYS": 16, "TTY": 4, "RES": 3,
	"ROOT": 5, "TOC": 7, "PROP": 1, "SIG": 2, "URING": 1, "ENV": 1, "ARG": 2, "NEST": 1, "KEY": 1}

// unnamed are missing guarantees that the run report states in a note of its
// own, not in the list of guarantees.
var unnamed = []string{"process-limit"}

// knownGuarantees are the names that sbx itself uses.
func knownGuarantees(t *testing.T) []string {
	out, err := exec.Command(binary, "doctor", "--json").Output()
	require.NoError(t, err)
	var report struct{ Guarantees []struct{ Name string } }
	require.NoError(t, json.Unmarshal(out, &report))
	var names []string
	for _, g := range report.Guarantees {
		names = append(names, g.Name)
	}
	require.NotEmpty(t, names)
	return names
}

// TestEscapeCorpus holds the corpus against the catalogue and against the
// guarantees that sbx speaks of.
func TestEscapeCorpus(t *testing.T) {
	cases, err := loadEscapeCases()
	require.NoError(t, err)
	seen := map[string]sourceLine{}
	names := append(knownGuarantees(t), unnamed...)
	for _, c := range cases {
		first, twice := seen[c.ID]
		assert.False(t, twice, "%s: %s is at %s already", c.place, c.ID, first)
		seen[c.ID] = c.place
		for _, g := range c.Gaps {
			if c.Expect == "block" {
				assert.Contains(t, names, g.guarantee, "%s: %s names no guarantee", c.place, c.ID)
			}
		}
	}
	for area, rows := range catalogue {
		for n := 1; n <= rows; n++ {
			assert.Contains(t, seen, fmt.Sprintf("%s-%02d", area, n), "the catalogue's row has no case")
		}
	}
	t.Logf("%d cases", len(cases))
}

// TestEscapeCaseErrors reads cases that say nothing, or two things.
func TestEscapeCaseErrors(t *testing.T) {
	good := "id: X-01\nattack: a\nexpect: block\ndo: nothing\n"
	for _, row := range []struct{ name, text, want string }{
		{"good", good, ""},
		{"twice", good + "id: X-02\n", "given twice"},
		{"unknown key", good + "efect: exists x\n", "no such key"},
		{"gap without reason", good + "gap: builtin metadata\n", "reason is missing"},
		{"gap for nobody", good + "gap: docker metadata -- why\n", "no such backend"},
		{"gap for a strange user", good + "gap: builtin/wheel metadata -- why\n", "no such backend and user"},
		{"gap without guarantee", good + "gap: builtin -- why\n", "GUARANTEE"},
		{"defect with guarantee", good + "defect: builtin metadata -- why\n", "defect: BACKEND"},
		{"no expectation", "id: X-01\nattack: a\ndo: nothing\n", "expect"},
		{"no action", "id: X-01\nattack: a\nexpect: block\n", "either do or run"},
		{"two actions", good + "run: true\n", "either do or run"},
		{"command without effect", "id: X-01\nattack: a\nexpect: block\nrun: true\n", "judged by its effect"},
		{"no colon", good + "nonsense\n", "want key: value"},
	} {
		t.Run(row.name, func(t *testing.T) {
			cases, err := parseCases("x.case", bufio.NewScanner(strings.NewReader(row.text)))
			if row.want == "" {
				require.NoError(t, err)
				assert.Len(t, cases, 1)
				return
			}
			assert.ErrorContains(t, err, row.want)
		})
	}
}
