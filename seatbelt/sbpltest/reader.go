package sbpltest

import (
	"fmt"
	"strings"
)

// NodeKind tells what a Node is.
type NodeKind uint8

// The kinds of nodes.
const (
	List NodeKind = iota
	Symbol
	Text // a string literal
	Number
	Bool
)

// Node is one datum of a profile.
type Node struct {
	Kind  NodeKind
	Atom  string // symbol, number or boolean as written; the decoded text of a string
	Raw   bool   // the string was written #"..."
	Items []Node // of a list
	Line  int    // 1-based
	Bytes int    // length in the source, for the size lint
}

// Head returns the symbol that a list starts with, or "".
func (n Node) Head() string {
	if n.Kind == List && len(n.Items) > 0 && n.Items[0].Kind == Symbol {
		return n.Items[0].Atom
	}
	return ""
}

// SyntaxError is text that the reader refuses. sandbox-exec would print it and
// exit with 65.
type SyntaxError struct {
	Line   int
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}

// MaxLiteral is the longest string literal, in decoded bytes, that libsandbox
// reads; one byte more fails the profile with "Error reading string"
// (reported by sandbox-runtime, which stops at 900).
const MaxLiteral = 1025

// maxNesting bounds recursion on hostile input; sbx nests four levels deep.
const maxNesting = 64

// Read splits source into its top-level forms.
func Read(source string) ([]Node, error) {
	r := &reader{src: source, line: 1}
	if i := strings.IndexByte(source, 0); i >= 0 {
		return nil, &SyntaxError{Line: 1 + strings.Count(source[:i], "\n"), Reason: "NUL ends the profile text"}
	}
	var forms []Node
	for {
		r.skipBlank()
		if r.pos == len(r.src) {
			return forms, nil
		}
		n, err := r.datum(0)
		if err != nil {
			return nil, err
		}
		forms = append(forms, n)
	}
}

type reader struct {
	src  string
	pos  int
	line int
}

func (r *reader) fail(format string, args ...any) error {
	return &SyntaxError{Line: r.line, Reason: fmt.Sprintf(format, args...)}
}

// skipBlank passes white space and comments. TinyScheme ends a line comment
// at "\n" only; "#!" starts one too, so that a script line is no error.
func (r *reader) skipBlank() {
	for r.pos < len(r.src) {
		c := r.src[r.pos]
		switch {
		case c == '\n':
			r.line++
			r.pos++
		case isSpace(c):
			r.pos++
		case c == ';' || strings.HasPrefix(r.src[r.pos:], "#!"):
			end := strings.IndexByte(r.src[r.pos:], '\n')
			if end < 0 {
				r.pos = len(r.src)
				return
			}
			r.pos += end
		default:
			return
		}
	}
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'
}

func isDelimiter(c byte) bool { return isSpace(c) || strings.IndexByte(`()";`, c) >= 0 }

// datum reads one datum and notes where it stood.
func (r *reader) datum(depth int) (Node, error) {
	start, line := r.pos, r.line
	n, err := r.bare(depth)
	n.Line, n.Bytes = line, r.pos-start
	return n, err
}

// bare tells data apart by their first character.
func (r *reader) bare(depth int) (Node, error) {
	switch c := r.src[r.pos]; {
	case c == '(':
		return r.list(depth)
	case c == ')':
		return Node{}, r.fail("unexpected )")
	case c == '"':
		r.pos++
		return r.text()
	case strings.HasPrefix(r.src[r.pos:], `#"`):
		r.pos += 2
		return r.rawText()
	case strings.IndexByte("'`,", c) >= 0:
		return Node{}, r.fail("quoting with %q is outside the subset", c)
	}
	return r.atom()
}

func (r *reader) list(depth int) (Node, error) {
	if depth == maxNesting {
		return Node{}, r.fail("nested deeper than %d lists", maxNesting)
	}
	open := r.line
	r.pos++
	n := Node{Kind: List}
	for {
		r.skipBlank()
		if r.pos == len(r.src) {
			return n, &SyntaxError{Line: open, Reason: "list is not closed"}
		}
		if r.src[r.pos] == ')' {
			r.pos++
			return n, nil
		}
		item, err := r.datum(depth + 1)
		if err != nil {
			return n, err
		}
		n.Items = append(n.Items, item)
	}
}

// atom reads up to the next delimiter. Case is kept: shipped profiles use
// AF_UNIX and REGULAR-FILE, so libsandbox's reader does not fold it.
func (r *reader) atom() (Node, error) {
	start := r.pos
	for r.pos < len(r.src) && !isDelimiter(r.src[r.pos]) {
		r.pos++
	}
	word := r.src[start:r.pos]
	switch {
	case word == "#t" || word == "#f":
		return Node{Kind: Bool, Atom: word}, nil
	case word[0] == '#':
		return Node{}, r.fail("%s is outside the subset", word)
	case word == ".":
		return Node{}, r.fail("dotted pairs are outside the subset")
	case strings.Trim(word, "0123456789") == "":
		return Node{Kind: Number, Atom: word}, nil
	}
	return Node{Kind: Symbol, Atom: word}, nil
}
