package config

import (
	"bytes"

	"github.com/sbx-run/sbx/policy"
)

// WorkerFile is the front matter of a *.worker file: the YAML between the
// line "---" that begins the file and the next one. What follows is the
// worker's own and is not read.
type WorkerFile struct {
	Name Value[string] // the name key, where it is a text; the file's name counts

	// Block narrows the program; nil where the file has no sandbox, which
	// keeps all that the program grants.
	Block *Worker

	// Old is a sandbox of the worker's own, as files had before programs had
	// one. Migration is the text that belongs into the program instead; its
	// roots are still relative to the worker's directory.
	Old *Sandbox

	Doubts []Value[string] // keys that look as if they were meant for sbx

	oldNode *node
}

// DecodeWorker reads the front matter of a worker file. It returns either the
// result or all faults, in file order; lines count from the file's first.
func DecodeWorker(data []byte) (*WorkerFile, []*policy.ConfigError) {
	front, f := frontMatter(data)
	if f != nil {
		return nil, []*policy.ConfigError{f}
	}
	root, faults := parse(front)
	if len(faults) > 0 {
		return nil, faults
	}
	w := &WorkerFile{}
	if root == nil {
		return w, nil
	}
	d := &decoder{}
	d.workerFile(root, w)
	if len(d.faults) > 0 {
		return nil, inOrder(d.faults)
	}
	return w, nil
}

// frontMatter returns the text between the marks, with the first mark as an
// empty line, so that lines keep their numbers. A file without marks is
// refused: its limits would be taken for instructions.
func frontMatter(data []byte) ([]byte, *fault) {
	if len(data) > maxBytes {
		return nil, newFault(Pos{1, 1}, "", "larger than 1 MiB")
	}
	data = normalize(data)
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if !isMark(first) {
		return nil, newFault(Pos{1, 1}, "begin the file with a line --- and end its keys with another", "a worker file without front matter")
	}
	front := []byte("\n")
	for line := range bytes.Lines(rest) {
		if isMark(line) {
			return front, nil
		}
		front = append(front, line...)
	}
	at := Pos{Line: max(bytes.Count(front, []byte("\n")), 1), Col: 1}
	return nil, newFault(at, "end it with a line ---", "the front matter has no end")
}

// isMark reports whether the line is the mark around front matter.
func isMark(line []byte) bool {
	return string(bytes.TrimRight(line, " \t\n")) == "---"
}

// workerFile picks the keys that are ours; the others belong to the program
// that interprets the worker.
func (d *decoder) workerFile(root *node, w *WorkerFile) {
	if !d.want(root, table, "the front matter", "a table of keys") {
		return
	}
	own := &node{Pos: root.Pos, shape: table}
	for _, p := range root.pairs {
		switch {
		case p.key.text == "sandbox", p.key.odd == "a merge key":
			own.pairs = append(own.pairs, p)
		case p.key.shape != scalar:
		case p.key.text == "name" && p.value.shape == scalar && p.value.odd == "":
			w.Name = Value[string]{V: p.value.text, Pos: p.value.Pos}
		case looksLikeOurs(p.key.text):
			w.Doubts = append(w.Doubts, Value[string]{V: p.key.text, Pos: p.key.Pos})
		}
	}
	object(d, own, "the front matter", []field[WorkerFile]{{"sandbox", (*decoder).workerSandbox}}, w)
}

// looksLikeOurs finds keys that stand one level too high, or are misspelt.
func looksLikeOurs(key string) bool {
	if near(key, []string{"sandbox"}) != "" {
		return true
	}
	for _, f := range workerFields() {
		if f.key == key {
			return true
		}
	}
	return false
}

// workerSandbox reads the narrowing, or the sandbox of an old-style worker.
func (d *decoder) workerSandbox(n *node, w *WorkerFile) {
	if n.shape == table {
		for _, p := range n.pairs {
			if p.key.text == "paths" || p.key.text == "root" {
				c := &Config{}
				d.sandboxKey(n, c)
				w.Old, w.oldNode = c.Sandbox, n
				return
			}
		}
	}
	w.Block = &Worker{Pos: n.Pos}
	if object(d, n, "sandbox", workerFields(), w.Block) {
		d.checkWorker(n, *w.Block)
	}
}
