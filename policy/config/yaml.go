package config

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// parse reads one YAML document. An empty one is a nil node. Whatever is
// wrong with the text itself comes back as faults without a file name.
func parse(data []byte) (*node, []*fault) {
	if f := checkText(data); f != nil {
		return nil, []*fault{f}
	}
	data = normalize(data)
	docs, err := documents(data)
	if err != nil {
		return nil, []*fault{syntaxFault(data, err)}
	}
	if len(docs) == 0 {
		return nil, nil
	}
	r := reader{lines: strings.Split(string(data), "\n")}
	root := r.read(docs[0], 1)
	if len(docs) > 1 {
		r.faults = append(r.faults, newFault(pos(docs[1]), "put it into a file of its own", "a second document: a file holds one policy"))
	}
	return root, r.faults
}

// documents decodes the first two documents of data. A panic of the YAML
// module is an error like any other: the text is not ours to trust.
func documents(data []byte) (docs []*yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			docs, err = nil, errors.New("yaml: cannot be read")
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for len(docs) < 2 {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		}
		docs = append(docs, doc.Content...)
	}
	return docs, nil
}

// pos keeps nodes that the module leaves without a place in the file.
func pos(y *yaml.Node) Pos { return Pos{Line: max(y.Line, 1), Col: max(y.Column, 1)} }

// reader turns the module's nodes into ours.
type reader struct {
	lines  []string
	faults []*fault
	cursor cursor
}

// cursor remembers how far a line has been counted in characters. Nodes come
// in the order of the text, so one long line is counted once.
type cursor struct{ line, col, offset int }

// maxDepth is how many levels of lists and tables a file may nest.
const maxDepth = 100

// read stops at the first fault: too deep is a property of the whole text.
func (r *reader) read(y *yaml.Node, depth int) *node {
	n := &node{Pos: pos(y), odd: r.oddity(y)}
	if depth > maxDepth && len(r.faults) == 0 {
		r.faults = append(r.faults, newFault(n.Pos, "", "more than %d levels deep", maxDepth))
	}
	if depth > maxDepth {
		return n
	}
	switch y.Kind {
	case yaml.ScalarNode:
		n.text = y.Value
		n.quoted = y.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
		n.sort = sortOf(y)
	case yaml.SequenceNode:
		n.shape = list
		for _, item := range y.Content {
			if len(r.faults) == 0 {
				n.items = append(n.items, r.read(item, depth+1))
			}
		}
	case yaml.MappingNode:
		n.shape = table
		for i := 0; i+1 < len(y.Content) && len(r.faults) == 0; i += 2 {
			n.pairs = append(n.pairs, pair{r.read(y.Content[i], depth+1), r.read(y.Content[i+1], depth+1)})
		}
	default:
		n.shape = foreign
	}
	return n
}

// oddity names what a node carries besides its value.
func (r *reader) oddity(y *yaml.Node) string {
	switch {
	case y.Kind == yaml.AliasNode:
		return "an alias"
	case y.Anchor != "":
		return "an anchor"
	case y.Tag == "!!merge":
		return "a merge key"
	case y.Style&yaml.TaggedStyle != 0, r.startsWith(y, '!'):
		return "a tag"
	}
	return ""
}

// startsWith finds the lone "!", which the module does not report as a tag.
func (r *reader) startsWith(y *yaml.Node, c byte) bool {
	p := pos(y)
	if p.Line > len(r.lines) {
		return false
	}
	line, at := r.lines[p.Line-1], &r.cursor
	if at.line != p.Line || at.col > p.Col {
		*at = cursor{line: p.Line, col: 1}
	}
	for ; at.col < p.Col && at.offset < len(line); at.col++ {
		_, size := utf8.DecodeRuneInString(line[at.offset:])
		at.offset += size
	}
	return at.offset < len(line) && line[at.offset] == c
}

// sortOf tells what a plain scalar is to YAML. Dates count as text: their
// text is all that we take.
func sortOf(y *yaml.Node) sort {
	switch y.ShortTag() {
	case "!!int", "!!float":
		return number
	case "!!bool":
		return boolean
	case "!!null":
		return null
	}
	return text
}
