package sbpltest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fact is one expectation of a fixture: what somebody saw a profile do.
type fact struct {
	group   string // name of the fixture
	mark    string // M measured, T asserted by an executed test, P shipped, C claimed
	profile *Profile
	action  Action
	text    string
	allowed bool
}

// readFacts parses a fixture file: groups of "fact NAME [MARK]", a comment, a
// profile and expectations.
func readFacts(t *testing.T, file string) []fact {
	t.Helper()
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	var facts []fact
	for _, block := range strings.Split("\n"+string(source), "\nfact ")[1:] {
		title, rest, _ := strings.Cut(block, "\n")
		_, rest, ok := strings.Cut("\n"+rest, "\nprofile\n")
		require.True(t, ok, "%s: %s has no profile", file, title)
		text, expectations, ok := strings.Cut(rest, "\nexpect\n")
		require.True(t, ok, "%s: %s expects nothing", file, title)
		words := strings.Fields(title)
		require.Len(t, words, 2, title)
		profile, err := Compile(text, nil)
		require.NoError(t, err, "%s: %s", file, title)
		for line := range strings.Lines(expectations) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			verdict, rest, _ := strings.Cut(line, " ")
			require.Contains(t, []string{"allow", "deny"}, verdict, line)
			action, err := ParseAction(strings.Fields(rest))
			require.NoError(t, err, line)
			facts = append(facts, fact{
				group: words[0], mark: strings.Trim(words[1], "[]"),
				profile: profile, action: action, text: line, allowed: verdict == "allow",
			})
		}
	}
	return facts
}

func allFacts(t *testing.T) []fact {
	t.Helper()
	files, err := filepath.Glob("../testdata/facts/*.facts")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var facts []fact
	for _, f := range files {
		facts = append(facts, readFacts(t, f)...)
	}
	return facts
}

// TestFactsPerSemantics prints and pins how many public facts each reading
// contradicts. The point is not that one reading has none, as it was chosen
// knowing them, but that its rivals fail, on reports from unrelated sources.
func TestFactsPerSemantics(t *testing.T) {
	t.Parallel()
	facts := allFacts(t)
	groups := map[string]bool{}
	marks := map[string]int{}
	for _, f := range facts {
		groups[f.group] = true
		marks[f.mark]++
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%d facts in %d fixtures: %d measured, %d asserted by tests, %d shipped, %d claimed\n\n",
		len(facts), len(groups), marks["M"], marks["T"], marks["P"], marks["C"])
	fmt.Fprintf(&table, "OpSpecific UnfilteredIsFloor TerminalOps | contradicted\n")
	counts := map[string]int{}
	for _, s := range Readings() {
		var failed []string
		for _, f := range facts {
			if f.profile.Allows(f.action, s) != f.allowed {
				counts[s.String()]++
				failed = append(failed, f.group)
			}
		}
		fmt.Fprintf(&table, "%s | %d", s, counts[s.String()])
		if names := slices.Compact(failed); len(names) > 0 {
			fmt.Fprintf(&table, ": %s", strings.Join(names, ", "))
		}
		table.WriteByte('\n')
	}
	t.Log("\n" + table.String())
	assert.Zero(t, counts[SStar.String()], "the model must fit every fact")
	assert.Positive(t, counts["FTT"], "no fact speaks for specific operations")
	assert.Positive(t, counts["TFT"], "no fact speaks for the floor")
	assert.Zero(t, counts["TTF"], "a fact settles terminal operations: say so in the documentation")
	compareGolden(t, "../testdata/facts.golden", table.String())
}

// TestFoldedCaseKeepsFacts: no fact depends on how case is compared.
func TestFoldedCaseKeepsFacts(t *testing.T) {
	t.Parallel()
	s := SStar
	s.FoldCase = true
	for _, f := range allFacts(t) {
		assert.Equal(t, f.allowed, f.profile.Allows(f.action, s), "%s: %s", f.group, f.text)
	}
}

func TestMustReject(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/reject/*.sb")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 7)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			first, _, _ := strings.Cut(string(source), "\n")
			want, ok := strings.CutPrefix(first, "; want: ")
			require.True(t, ok, "no expectation in the first line")
			_, err = Compile(string(source), nil)
			require.ErrorContains(t, err, want)
		})
	}
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}
