package main

import (
	"fmt"
	"strings"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// mostMade bounds the report: a command can make as many repositories as it
// likes.
const mostMade = 20

// madeNotes says, one line each, what a run has made or changed that some
// tool acts on by itself.
func madeNotes(made []policy.Trigger, cwd string) []string {
	var notes []string
	for i, t := range made {
		if i == mostMade {
			notes = append(notes, fmt.Sprintf("made or changed during the run: %d more that tools act on by themselves", len(made)-i))
			break
		}
		word := "made"
		if t.Changed {
			word = "changed"
		}
		t.Path = shortPath(t.Path, cwd)
		notes = append(notes, word+" during the run: "+t.String())
	}
	return notes
}

// shortPath spells p from the working directory where it lies below.
func shortPath(p, cwd string) string {
	if rest, ok := strings.CutPrefix(p, cwd+"/"); ok && cwd != "" {
		return "./" + rest
	}
	return p
}

// reportMade prints the notes: whoever keeps sbx quiet still has to know what
// their editor is about to run.
func (a *app) reportMade(plan platform.Plan, result launcher.Result) {
	for _, note := range madeNotes(result.Made, plan.Effective.Places.Cwd) {
		a.ui.warn("%s", note)
	}
}

// reclaim removes what killed strict runs have left on the host, before this
// run takes it for somebody's files. Without a home there are no records.
func reclaim() {
	if home, err := homeDirectory(); err == nil {
		launcher.ReclaimPlaceholders(stateDirectory(home))
	}
}
