package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

// derivation is how a worker's sandbox came about: "policy show --worker"
// prints it beside the result, which the other fields hold.
type derivation struct {
	File    string       `json:"file"`
	Line    int          `json:"line"` // 0 for a worker without a block of its own
	Program shownBounds  `json:"program"`
	Request shownRequest `json:"request"`
}

// shownBounds are the effective sets of a sandbox.
type shownBounds struct {
	Readable []string       `json:"readable"`
	Writable []string       `json:"writable"`
	Denied   []string       `json:"denied"`
	Network  shownNetwork   `json:"network"`
	Limits   map[string]any `json:"limits"`
}

// shownRequest is what the worker asks of its program. Lists and switches that
// it does not give are null.
type shownRequest struct {
	Restrict   string         `json:"restrict"`
	Inherit    bool           `json:"inherit"`
	Readonly   *bool          `json:"readonly"`
	AllowRead  []string       `json:"allow_read"`
	AllowWrite []string       `json:"allow_write"`
	Deny       []string       `json:"deny"`
	Network    *shownNetwork  `json:"network"`
	Limits     map[string]any `json:"limits"`
}

func bounds(e policy.Effective) shownBounds {
	return shownBounds{
		Readable: orEmpty(e.Readable()), Writable: orEmpty(e.Writable()), Denied: written(e.Denies),
		Network: networkOf(e.Network), Limits: shownLimits(e.Limits),
	}
}

func networkOf(n policy.Network) shownNetwork {
	return shownNetwork{n.Mode.String(), hostRules(n.Allow), hostRules(n.Deny)}
}

func written(denies []policy.Deny) []string {
	texts := []string{}
	for _, d := range denies {
		texts = append(texts, d.Written)
	}
	return texts
}

// derivationOf is nil without a worker.
func derivationOf(l config.Loaded) *derivation {
	if l.Worker == nil {
		return nil
	}
	r := l.Worker.Request
	d := &derivation{File: l.Worker.File, Line: l.Worker.Line, Program: bounds(l.Program.Effective()), Request: shownRequest{
		Restrict: r.Restrict, Inherit: r.Inherit, Readonly: r.Readonly,
		AllowRead: r.AllowRead, AllowWrite: r.AllowWrite, Deny: written(r.Deny), Limits: shownLimits(r.Limits),
	}}
	if r.Network != nil {
		n := networkOf(*r.Network)
		d.Request.Network = &n
	}
	return d
}

// drawDerivation prints program, request and result side by side.
func (a *app) drawDerivation(l config.Loaded) {
	program, result := l.Program.Effective(), l.Sandbox.Effective()
	rows := [][4][]string{
		{{""}, {"program"}, {"worker"}, {"result"}},
		{{"readable"}, program.ReadableAsWritten(), readRequest(l.Worker.Request), result.ReadableAsWritten()},
		{{"writable"}, program.WritableAsWritten(), writeRequest(l.Worker.Request), result.WritableAsWritten()},
		{{"denied"}, written(program.Denies), written(l.Worker.Request.Deny), written(result.Denies)},
		{{"network"}, {networkWord(program.Network)}, networkRequest(l.Worker.Request), {networkWord(result.Network)}},
		{{"limits"}, limitWords(program.Limits), limitWords(l.Worker.Request.Limits), limitWords(result.Limits)},
	}
	where := l.Worker.File
	if l.Worker.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, l.Worker.Line)
	}
	fmt.Fprintf(a.ui.out, "worker %s (%s)\n\n", printable(l.Worker.Name), printable(where))
	a.columns(rows)
	fmt.Fprintln(a.ui.out)
}

// columns prints rows whose cells have lines. An empty cell is a dash.
func (a *app) columns(rows [][4][]string) {
	var width [4]int
	for _, row := range rows {
		for i, cell := range row {
			for _, line := range cell {
				width[i] = max(width[i], len([]rune(printable(line))))
			}
		}
	}
	for _, row := range rows {
		height := 1
		for _, cell := range row {
			height = max(height, len(cell))
		}
		for line := range height {
			text := ""
			for i, cell := range row {
				word := ""
				switch {
				case line < len(cell):
					word = printable(cell[line])
				case line == 0:
					word = "-"
				}
				text += word + strings.Repeat(" ", max(0, width[i]-len([]rune(word)))+3)
			}
			fmt.Fprintln(a.ui.out, strings.TrimRight(text, " "))
		}
	}
}

// readRequest says what bounds reading, in the words of the file.
func readRequest(r policy.Request) []string {
	lines := restriction(r)
	switch {
	case r.AllowRead != nil:
		lines = append(lines, listed("allow_read", r.AllowRead))
	case r.AllowWrite != nil:
		lines = append(lines, listed("allow_write", r.AllowWrite))
	case r.Restrict == "":
		lines = append(lines, inherits(r))
	}
	return lines
}

func writeRequest(r policy.Request) []string {
	lines := restriction(r)
	switch {
	case r.Readonly != nil && *r.Readonly:
		return append(lines, "readonly: true")
	case r.AllowWrite != nil:
		lines = append(lines, listed("allow_write", r.AllowWrite))
	case r.AllowRead != nil:
		lines = append(lines, "no allow_write")
	case r.Restrict == "":
		lines = append(lines, inherits(r))
	}
	if r.Readonly != nil {
		lines = append(lines, "readonly: false")
	}
	return lines
}

func restriction(r policy.Request) []string {
	if r.Restrict == "" {
		return nil
	}
	return []string{"restrict: " + r.Restrict}
}

func listed(key string, paths []string) string {
	return key + ": [" + strings.Join(paths, ", ") + "]"
}

func inherits(r policy.Request) string {
	if r.Inherit {
		return "inherited"
	}
	return "inherit: false"
}

func networkRequest(r policy.Request) []string {
	if r.Network == nil {
		return []string{"inherited"}
	}
	return []string{networkWord(*r.Network)}
}

func networkWord(n policy.Network) string {
	if n.Mode != policy.NetworkList {
		return n.Mode.String()
	}
	return strings.Join(hostRules(n.Allow), " ")
}

// limitWords lists the limits that are set, sorted by name.
func limitWords(l policy.Limits) []string {
	var words []string
	for name, value := range shownLimits(l) {
		words = append(words, fmt.Sprintf("%s=%v", name, value))
	}
	slices.Sort(words)
	return words
}
