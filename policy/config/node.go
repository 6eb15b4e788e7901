package config

// Pos is a place in a file. The zero value is no place: not given.
type Pos struct {
	Line int // 1-based
	Col  int // 1-based, in characters
}

// Given reports whether the file holds the thing at all.
func (p Pos) Given() bool { return p.Line > 0 }

// Value is a value with its place. Where the file does not give it, V is the
// zero value of T.
type Value[T any] struct {
	V T
	Pos
}

// Or returns the value, or fallback where the file gives none.
func (v Value[T]) Or(fallback T) T {
	if v.Given() {
		return v.V
	}
	return fallback
}

// shape is what a node is in the file.
type shape uint8

const (
	scalar shape = iota
	list
	table
	foreign // alias or merge: refused where it is read
)

// sort is what a plain scalar stands for in YAML.
type sort uint8

const (
	text sort = iota
	number
	boolean // what YAML 1.2 calls so: true, True, TRUE, false ...
	null
)

// node is one value of a file, free of any YAML module's types.
type node struct {
	Pos
	shape  shape
	sort   sort   // of a scalar
	quoted bool   // scalar in quotes or as a block: always text
	text   string // of a scalar, as written and unescaped
	odd    string // what else it carries that a policy may not: "an anchor", "a tag"
	items  []*node
	pairs  []pair
}

// pair is one entry of a table, in file order.
type pair struct{ key, value *node }

// kind names the node for messages.
func (n *node) kind() string {
	switch n.shape {
	case list:
		return "a list"
	case table:
		return "a table"
	case foreign:
		return "an alias"
	}
	switch n.sort {
	case number:
		return "the number " + n.text
	case boolean:
		return n.text
	case null:
		return "no value"
	}
	return quote(n.text)
}
