package config

import (
	"strings"
	"unicode/utf8"
)

// syntaxFault says in plain words what the YAML module did not like, and
// where. The module names no column and often the wrong line, but it reads
// from left to right: the fault lies where the shortest beginning of the text
// ends that fails in the same way.
func syntaxFault(data []byte, err error) *fault {
	problem, line := splitProblem(err.Error())
	at := Pos{Line: max(line, 1), Col: 1}
	if len(data) <= maxBisect {
		at = bisect(data, problem)
	}
	message, fix := explain(problem)
	if lineHasTabIndent(data, at.Line) {
		message, fix = "a tab indents this line", "YAML indents by spaces alone"
	}
	return newFault(at, fix, "%s", message)
}

// maxBisect bounds the text for which the place of a fault is searched, so
// that a hostile file costs no noticeable time.
const maxBisect = 64 << 10

// splitProblem takes "yaml: line 3: problem" apart.
func splitProblem(s string) (problem string, line int) {
	s = strings.TrimPrefix(s, "yaml: ")
	rest, ok := strings.CutPrefix(s, "line ")
	if !ok {
		return s, 0
	}
	digits, problem, ok := strings.Cut(rest, ": ")
	if !ok {
		return s, 0
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' || line > maxBytes {
			return s, 0
		}
		line = line*10 + int(c-'0')
	}
	return problem, line
}

// bisect returns the place of the last character of the shortest beginning
// of data that fails with problem.
func bisect(data []byte, problem string) Pos {
	good, bad := 0, len(data)
	for good+1 < bad {
		mid := (good + bad) / 2
		for mid > good && !utf8.RuneStart(data[mid]) {
			mid--
		}
		if mid == good {
			break
		}
		if failsLike(data[:mid], problem) {
			bad = mid
		} else {
			good = mid
		}
	}
	before := strings.TrimRight(string(data[:bad]), "\n")
	lineStart := strings.LastIndexByte(before, '\n') + 1
	return Pos{
		Line: strings.Count(before, "\n") + 1,
		Col:  max(utf8.RuneCountInString(before[lineStart:]), 1),
	}
}

// failsLike reports whether the module has the same problem with data.
func failsLike(data []byte, problem string) bool {
	_, err := documents(data)
	if err == nil {
		return false
	}
	got, _ := splitProblem(err.Error())
	return got == problem
}

// problems maps how the module words a problem to our words. A prefix counts.
var problems = [...]struct{ problem, message, fix string }{
	{"mapping values are not allowed", "a key where none can stand", "check the indentation; text that holds \": \" needs quotes"},
	{"mapping keys are not allowed", "a key where none can stand", "check the indentation"},
	{"block sequence entries are not allowed", "a list item where none can stand", "start the list on a line of its own"},
	{"could not find expected ':'", "a key without \":\"", "write key: value"},
	{"did not find expected key", "not indented like the keys above", "indent the keys of one table alike"},
	{"did not find expected '-' indicator", "not indented like the list above", "indent the items of one list alike"},
	{"did not find expected ',' or ']'", "a list in brackets is not closed, or a comma is missing", "write [a, b]"},
	{"did not find expected ',' or '}'", "a table in braces is not closed, or a comma is missing", "write {a: 1, b: 2}"},
	{"did not find expected node content", "a value is missing", ""},
	{"found character that cannot start any token", "a character that cannot start a value", "put the text in quotes"},
	{"found unexpected end of stream", "a quote is not closed", ""},
	{"found unexpected document indicator", "a quote is not closed", ""},
	{"found unknown escape character", "an unknown escape after a backslash", "single quotes take backslashes as they are"},
	{"did not find expected hexdecimal number", "an escape with wrong digits", "single quotes take backslashes as they are"},
	{"found invalid Unicode character escape", "an escape that is no character", ""},
	{"did not find expected alphabetic or numeric", "an anchor or alias, which a policy may not hold", "put text that starts with & or * in quotes"},
	{"unknown anchor", "an alias, which a policy may not hold", "put text that starts with * in quotes"},
	{"did not find expected <document start>", "text after the end of the policy", "indent the keys of one table alike"},
	{"found a tab character", "a tab indents this line", "YAML indents by spaces alone"},
	{"found incompatible YAML", "a directive, which a policy may not hold", "remove the line that starts with %"},
	{"found unknown directive", "a directive, which a policy may not hold", "remove the line that starts with %"},
	{"exceeded max depth", "too many levels", ""},
}

// explain words a problem; one that is not in the table gets general advice.
func explain(problem string) (message, fix string) {
	for _, p := range problems {
		if strings.HasPrefix(problem, p.problem) {
			return p.message, p.fix
		}
	}
	return "not valid YAML", "check quotes, brackets and indentation near this place"
}

// lineHasTabIndent finds the commonest slip, which the module words in ways
// that depend on what follows.
func lineHasTabIndent(data []byte, line int) bool {
	lines := strings.Split(string(data), "\n")
	if line > len(lines) {
		return false
	}
	indent := lines[line-1][:len(lines[line-1])-len(strings.TrimLeft(lines[line-1], " \t"))]
	return strings.Contains(indent, "\t")
}
