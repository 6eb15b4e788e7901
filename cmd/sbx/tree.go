package main

import (
	"fmt"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// node is a place in the drawn tree. Directories that only lead somewhere are
// drawn together with the place they lead to.
type node struct {
	entry    policy.Entry
	children []*node
}

// drawTree prints the entries of the view as a tree. The files of the system
// base are one line: which they are is the same everywhere.
func (a *app) drawTree(e policy.Effective) {
	root := &node{entry: policy.Entry{Path: "/"}}
	chain := []*node{root}
	for _, entry := range e.Area.Entries() {
		if entry.Path == "/" {
			root.entry = entry
			continue
		}
		if hiddenAnyway(entry, e.Area) || foldsIntoSystem(entry) {
			continue
		}
		for len(chain) > 1 && !policy.Contains(chain[len(chain)-1].entry.Path, entry.Path) {
			chain = chain[:len(chain)-1]
		}
		n := &node{entry: entry}
		up := chain[len(chain)-1]
		up.children = append(up.children, n)
		chain = append(chain, n)
	}
	var lines [][2]string // drawn name, description
	lines = append(lines, [2]string{"/", a.describe(root.entry)})
	a.collect(root, "", &lines)
	width := 0
	for _, l := range lines {
		width = max(width, len([]rune(l[0])))
	}
	for _, l := range lines {
		fmt.Fprintf(a.ui.out, "%s%s  %s\n", l[0], strings.Repeat(" ", width-len([]rune(l[0]))), l[1])
	}
}

// foldsIntoSystem leaves single files of /etc out of the drawing.
func foldsIntoSystem(entry policy.Entry) bool {
	return entry.Kind == policy.System && strings.HasPrefix(entry.Path, "/etc/")
}

// hiddenAnyway is true for closed places inside what shows nothing.
func hiddenAnyway(entry policy.Entry, area policy.Area) bool {
	up := area.Above(entry.Path)
	return entry.Kind == policy.Hidden && (up.Kind == policy.Hidden || up.Kind == policy.Private)
}

func (a *app) collect(n *node, indent string, lines *[][2]string) {
	for i, c := range n.children {
		branch, deeper := "├── ", "│   "
		if i == len(n.children)-1 {
			branch, deeper = "└── ", "    "
		}
		name := strings.TrimPrefix(strings.TrimPrefix(c.entry.Path, n.entry.Path), "/")
		*lines = append(*lines, [2]string{indent + branch + quoteName(name), a.describe(c.entry)})
		a.collect(c, indent+deeper, lines)
	}
}

func (a *app) describe(entry policy.Entry) string {
	word := accessWord(entry)
	text := a.ui.paint(kindColor(entry), word)
	if rule := entry.Rule.String(); rule != "" {
		text += strings.Repeat(" ", max(0, len("read+write")-len(word))) + "  " + printable(rule)
	}
	if entry.Type == policy.TypeMissing {
		text += " (does not exist)"
	}
	return text
}
