package policy

import (
	"path"
	"slices"

	"github.com/bmatcuk/doublestar/v4"
)

// A rule about a name that is a symbolic link is about what the link leads to.
// The link itself is a second way to break the rule: whoever may write to its
// directory can put something else in its place, which no later run would see
// as the same. Such links are called loose, until a backend makes mount points
// of them.

// LooseLinks returns, sorted, the links by which a command could get around a
// rule if it replaced them.
func (e Effective) LooseLinks() []Trigger {
	if e.watch == nil {
		return nil
	}
	var loose []Trigger
	for _, list := range [][]Trigger{e.watch.open.loose, e.watch.open.denied} {
		for _, t := range list {
			if t.Link != "" && e.reaches(t.Path) {
				loose = append(loose, t)
			}
		}
	}
	return sorted(loose)
}

// unresolved watches a name that leads nowhere: through links in a circle, of
// which each could be replaced, or through a file where a directory should be.
func (s *survey) unresolved(t Trigger) {
	r, _ := resolve(t.Path)
	if len(r.Links) == 0 {
		s.loose(t, Link{Path: t.Path})
	}
	s.looseOnTheWay(t, r.Links, false)
}

// looseOnTheWay watches the links that a look-up has crossed. around says that
// they lead to a writable directory which holds the name itself (.claude -> .):
// that is beyond help, so they get no text by which they would be pinned.
func (s *survey) looseOnTheWay(t Trigger, links []Link, around bool) {
	for _, l := range links {
		if around {
			l.Target = ""
		}
		if s.writable(l.Path) {
			s.loose(t, l)
		}
	}
}

// deniedLinks watches the links that lead to what denies and sbx's own files
// close. matched are those that patterns have matched.
func (s *survey) deniedLinks(e Effective, matched []Trigger) {
	for _, d := range e.Denies {
		switch {
		case d.literal != "" && d.closed.Path != d.literal:
			s.leadingTo(d.literal, d.Rule)
		case d.real != "":
			base, _ := doublestar.SplitPattern(d.glob)
			s.leadingTo(base, d.Rule)
		}
	}
	for _, p := range e.Places.Own {
		s.leadingTo(p, ownRule)
	}
	for _, t := range matched {
		s.deniedLink(t)
	}
}

// leadingTo watches the links on the way to p.
func (s *survey) leadingTo(p string, rule Rule) {
	r, err := Resolve(p)
	if err != nil {
		return
	}
	for _, l := range r.Links {
		s.deniedLink(deniedTrigger(l, rule))
	}
}

func (s *survey) deniedLink(t Trigger) {
	if s.writable(t.Path) {
		s.watch(t)
		s.open.denied = append(s.open.denied, t)
	}
}

func deniedTrigger(l Link, rule Rule) Trigger {
	return Trigger{Path: l.Path, Link: l.Target, Tool: rule.Text + " covers it from the next run on"}
}

// PolicyFiles returns the policy files that exist and whose name, or what it
// leads to, lies in a directory that the command can write to. A backend that
// cannot make files read-only there cannot keep them.
func (e Effective) PolicyFiles() []string {
	var files []string
	for _, found := range e.Area.Entries() { // by the survey, further down
		if found.Kind == Protected && path.Base(found.Path) == policyFile && !slices.Contains(e.guarded, found.Path) && e.Area.Above(found.Path).Access.Has(Write) {
			files = append(files, found.Path)
		}
	}
	for _, p := range e.guarded {
		r, err := Resolve(p)
		if err == nil && r.Type == TypeMissing && len(r.Links) == 0 {
			continue
		}
		if e.Area.Above(p).Access.Has(Write) || err == nil && e.Area.Above(r.Path).Access.Has(Write) {
			files = append(files, p)
		}
	}
	return files
}
