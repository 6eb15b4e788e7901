package policy

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// surveyLimit bounds how many directory entries one survey reads: about a
// second's worth. What lies beyond is reported as not searched.
const surveyLimit = 1_000_000

// survey is what one look at the writable places of a sandbox finds.
type survey struct {
	ground
	left    int // directory entries that may still be read
	list    listing
	lstat   func(p string) (fs.FileInfo, error)
	present bool // what does not exist does not matter

	found  []Entry         // existing places to protect
	closed map[string]bool // their paths
	seen   []Trigger       // what may be there, before or after the run
	state  snapshot        // what is at each of seen
	gits   map[string]bool // git directories
	open   exposure
}

func newSurvey(e Effective) *survey {
	g := ground{area: e.Area, granted: e.writableRoots()}
	return &survey{
		ground: g, left: surveyLimit, lstat: os.Lstat,
		closed: map[string]bool{}, state: snapshot{}, gits: map[string]bool{},
		open: exposure{ground: g},
	}
}

// search looks at every writable root of e and at the home where that is
// writable. It follows no link and enters no place that the command cannot
// write to. Nothing that it meets is an error: what cannot be looked at is
// listed.
func (s *survey) search(e Effective) *survey {
	if home := e.Places.Home; home != "" && s.writable(home) {
		s.names(home, homeNames, true)
		s.names(home, startupNames, true)
	}
	for _, p := range e.guarded {
		s.look(p, guardedName, true)
	}
	s.missingDenied()
	for _, root := range e.Area.Roots(Write) {
		s.walk(root, true)
	}
	return s
}

// writableRoots returns the roots of the writable mounts.
func (e Effective) writableRoots() map[string]bool {
	roots := map[string]bool{}
	for _, m := range e.Mounts {
		if m.Mode == ReadAndWrite {
			roots[m.Root] = true
		}
	}
	return roots
}

// ground is what a survey knows before it looks.
type ground struct {
	area    Area
	granted map[string]bool // roots of writable mounts: named by the user, so never protected by name
}

// writable reports whether the command can write to p, or could without the
// protection by an earlier survey.
func (g ground) writable(p string) bool {
	at := g.area.At(p)
	return at.Access.Has(Write) || at.Kind == Protected
}

// protects reports whether a protected name at p counts.
func (g ground) protects(p string) bool { return g.writable(p) && !g.granted[p] }

// missingDenied watches what denies and sbx's own files close by name and is
// not there to be masked.
func (s *survey) missingDenied() {
	for _, e := range s.area.Entries() {
		if e.Kind == Hidden && e.Type == TypeMissing && s.area.Above(e.Path).Access.Has(Write) {
			s.watch(Trigger{Path: e.Path, Tool: e.Rule.Text + " covers it from the next run on"})
			s.open.missing = append(s.open.missing, s.seen[len(s.seen)-1])
		}
	}
}

// walk visits dir and what lies below it. root is set for the root of a
// grant, which is protected whether or not it is a repository.
func (s *survey) walk(dir string, root bool) {
	names, err := s.list.read(dir)
	s.left -= names.count
	switch {
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrNotExist):
		return
	case err != nil, s.left < 0:
		s.open.unseen = append(s.open.unseen, dir)
		return
	}
	git := names.gitDirectory() || path.Base(dir) == dotGit
	switch {
	case git:
		s.gitDirectory(dir)
	case root || names.dotGit:
		s.top(dir, names, root)
	}
	s.policies(dir, names)
	for _, name := range names.dirs {
		if git && neverInside(name) {
			continue
		}
		if p := join(dir, name); !s.closed[p] && s.area.At(p).Access.Has(Write) {
			s.walk(p, false)
		}
	}
}

// top protects what counts at the top of a root or repository. What its
// listing shows not to be there is not looked at: with many roots that would
// be most of a run.
func (s *survey) top(dir string, listed names, root bool) {
	bare := bareTop{dir: dir, root: root, listed: listed.tops}
	for n, absent := range bare.names() {
		switch {
		case !listed.may(n.name):
		case n == dotGitName:
			s.dotGit(dir, root)
		default:
			s.look(join(dir, n.name), n, absent)
		}
	}
	if !listed.odd && !s.present {
		s.open.bare = append(s.open.bare, bare)
	}
}

// policies looks for the policy files of any directory. Those that decide
// about this run or lie at a root have been looked at.
func (s *survey) policies(dir string, listed names) {
	if listed.policy {
		s.policy(join(dir, policyFile), true)
	}
	if listed.program {
		s.policy(join(dir, programFile), false)
	}
}

func (s *survey) policy(p string, protect bool) {
	if s.closed[p] || !s.protects(p) {
		return
	}
	t := Trigger{Path: p, Tool: guardedName.tool}
	switch info, err := s.lstat(p); {
	case err != nil || !info.Mode().IsRegular(): // a search refuses links
	case protect:
		s.protect(t, info)
	default:
		s.watch(t)
	}
}

// names looks for each of names below dir; absent says whether those that do
// not exist matter.
func (s *survey) names(dir string, names []protectedName, absent bool) {
	for _, n := range names {
		s.look(join(dir, n.name), n, absent)
	}
}

// look protects what is at p, or notes that nothing is.
func (s *survey) look(p string, n protectedName, absent bool) {
	if !s.protects(p) {
		return
	}
	t := Trigger{Path: p, Tool: n.tool}
	info, err := s.lstat(p)
	linked := err == nil && info.Mode()&fs.ModeSymlink != 0
	if linked || strings.Contains(n.name, "/") {
		r, rerr := Resolve(p)
		if rerr != nil || len(r.Links) > 0 {
			s.linked(t, r, rerr)
			return
		}
	}
	switch {
	case err == nil:
		s.protect(t, info)
	case errors.Is(err, fs.ErrNotExist) && absent:
		s.missing(t)
	case errors.Is(err, fs.ErrNotExist):
	default:
		s.open.unseen = append(s.open.unseen, p)
	}
}

// linked handles a name that is a link or lies behind one: see LooseLinks. What
// it leads to is protected, unless that holds the link itself.
func (s *survey) linked(t Trigger, r Resolution, err error) {
	if err != nil { // a loop, or a file where a directory should be
		s.unresolved(t)
		return
	}
	s.looseOnTheWay(t, r.Links, Contains(r.Path, t.Path) && s.writable(r.Path))
	if Contains(r.Path, t.Path) || !s.protects(r.Path) {
		return
	}
	t.Path = r.Path
	info, err := s.lstat(r.Path)
	if err != nil {
		s.missing(t)
		return
	}
	s.protect(t, info)
}

func (s *survey) loose(t Trigger, l Link) {
	t.Path, t.Link = l.Path, l.Target
	s.watch(t)
	s.open.loose = append(s.open.loose, t)
}

// missing notes a name at which nothing is. There is nothing to watch before
// a run, and nothing to report after it.
func (s *survey) missing(t Trigger) {
	if !s.present {
		s.open.missing = append(s.open.missing, t)
	}
}

func (s *survey) watch(t Trigger) {
	s.seen = append(s.seen, t)
	if info, err := s.lstat(t.Path); err == nil {
		s.state[t.Path] = info
	}
}

// protect makes an entry without write access. A place that can be written
// and not read has nothing left then, and is hidden.
func (s *survey) protect(t Trigger, info fs.FileInfo) {
	s.seen = append(s.seen, t)
	s.state[t.Path] = info
	s.closed[t.Path] = true
	if s.hollow(t.Path, info) {
		s.open.hollow = append(s.open.hollow, t)
	}
	s.found = append(s.found, s.entry(t, typeOf(info.Mode())))
}

// hollow reports whether what is at p may be the placeholder of another run.
func (s *survey) hollow(p string, info fs.FileInfo) bool {
	want := standIn(p, s.gits)
	switch {
	case info.IsDir() && want.Type == TypeDir:
		names, err := os.ReadDir(p)
		return err == nil && len(names) == 0
	case info.Mode().IsRegular() && want.Type == TypeFile:
		return info.Size() == int64(len(want.Content)) && readPath(p) == strings.TrimSpace(want.Content)
	}
	return false
}

func (s *survey) entry(t Trigger, is FileType) Entry {
	e := Entry{
		Path: t.Path, Access: s.area.At(t.Path).Access.Meet(Read), Kind: Protected, Type: is,
		Rule: Rule{Text: "protected: " + t.Tool},
	}
	if e.Access == None {
		e.Kind = Hidden
	}
	return e
}
