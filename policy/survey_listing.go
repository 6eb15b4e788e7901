package policy

import (
	"iter"
	"slices"
	"strings"
	"sync"
)

// names is what a survey needs to know of the entries of a directory.
type names struct {
	dirs  []string // directories, in the order of the file system
	count int      // entries of all kinds
	tops  []string // first components of protected names that an entry has or may answer to
	odd   bool     // some entry may answer to any name

	dotGit, head, objects, refs, commonDir bool // by which git knows its directories
	policy, program                        bool // some spelling of what a search for a policy finds
}

func (n *names) add(name []byte, isDir bool) {
	n.count++
	switch string(name) {
	case ".", "..":
		return
	case dotGit:
		n.dotGit = true
	case "HEAD":
		n.head = true
	case "objects":
		n.objects = true
	case "refs":
		n.refs = true
	case gitCommonDir:
		n.commonDir = true
	}
	switch len(name) {
	case len(policyFile):
		n.policy = n.policy || strings.EqualFold(string(name), policyFile)
	case len(programFile):
		n.program = n.program || strings.EqualFold(string(name), programFile)
	}
	n.addTop(name)
	if isDir {
		n.dirs = append(n.dirs, string(name))
	}
}

// addTop notes a name by which a protected one can be reached. File systems
// that fold case or leave characters out (".g\u200cit" on HFS+) find an entry
// by other names too: ASCII is folded here, and what else there is may be
// anything.
func (n *names) addTop(name []byte) {
	var folded [longestTop]byte
	short := len(name) <= longestTop
	for i, c := range name {
		switch {
		case c >= 0x80:
			n.odd = true
			return
		case !short:
		case 'A' <= c && c <= 'Z':
			folded[i] = c + ('a' - 'A')
		default:
			folded[i] = c
		}
	}
	if !short || name[0] != '.' {
		return
	}
	if top, ok := protectedTops()[string(folded[:len(name)])]; ok && !slices.Contains(n.tops, top) {
		n.tops = append(n.tops, top)
	}
}

// may reports whether something can be at name, which is protected at the top
// of a directory: if not, no look at the file system finds anything.
func (n *names) may(name string) bool {
	return n.odd || slices.Contains(n.tops, topOf(name))
}

func topOf(name string) string {
	top, _, _ := strings.Cut(name, "/")
	return top
}

// longestTop is the length of the longest of protectedTops.
const longestTop = len(".devcontainer.json")

// protectedTops gives the first components of what is protected at a top, by
// their lower case. All begin with a dot.
var protectedTops = sync.OnceValue(func() map[string]string {
	tops := map[string]string{dotGit: dotGit}
	for _, list := range [][]protectedName{projectNames, startupNames} {
		for _, n := range list {
			tops[strings.ToLower(topOf(n.name))] = topOf(n.name)
		}
	}
	return tops
})

// bareTop is a top at which most protected names do not exist: all but those
// of which the listing has the beginning. With many roots there would be tens
// of thousands of triggers, and few runs ask for them.
type bareTop struct {
	dir    string
	root   bool
	listed []string
}

// names yields what is protected at the top, and whether it matters where it
// does not exist.
func (t bareTop) names() iter.Seq2[protectedName, bool] {
	return func(yield func(protectedName, bool) bool) {
		for _, n := range projectNames {
			if !yield(n, true) {
				return
			}
		}
		for _, n := range startupNames {
			if !yield(n, t.root) {
				return
			}
		}
		yield(dotGitName, t.root)
	}
}

// absent returns what could be made at the top.
func (t bareTop) absent(g ground) []Trigger {
	var all []Trigger
	for n, matters := range t.names() {
		if !matters || slices.Contains(t.listed, topOf(n.name)) {
			continue
		}
		if p := join(t.dir, n.name); g.protects(p) {
			all = append(all, Trigger{Path: p, Tool: n.tool})
		}
	}
	return all
}

// gitDirectory reports what git itself asks before it takes a directory for
// a repository, bare ones and those of linked worktrees included.
func (n *names) gitDirectory() bool { return n.head && (n.objects && n.refs || n.commonDir) }
