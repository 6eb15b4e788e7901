package bwrap

import (
	"path"
	"slices"

	"github.com/sbx-run/sbx/policy"
)

// bubblewrap reads the whole mount table for every bind, so its time is
// quadratic in them: 0.4 ms each at a hundred, 1.8 ms each at a thousand. Many
// mounts are therefore made by a process of ours and attached to the running
// sandbox as few finished trees.
const (
	// stageBinds is the number of binds from which that is faster: starting
	// the other process costs two to three milliseconds.
	stageBinds = 32

	// stageMounts is the same for mounts of all kinds. None takes more than
	// six arguments, so this stays well below MaxArgs too.
	stageMounts = 256
)

// Stage divides a layout into what bubblewrap makes itself and what is staged:
// built beforehand as trees, each attached at its site once bubblewrap's part
// stands.
//
// # Invariants
//
//   - No mount of bubblewrap's part lies at or below a site, so attaching the
//     trees last keeps every parent before its children.
//   - What needs the sandbox's own namespaces, /dev and /proc, is
//     bubblewrap's, and so is all around and below them.
//   - A mount point is made only in memory: where the host shows around it, it
//     is there already or the start fails.
type Stage struct {
	Mounts []Staged // in the order of the layout
	Sites  []string // where trees are attached; none lies in another
	Root   int      // index of the bind of the host's root, in which the trees are built then; -1 if there is none
	Points []string // directories under which the trees may be built: no mount shows what is there

	held map[int]bool
}

// Staged is one mount of a tree.
type Staged struct {
	Index int // in the layout

	// In is the tmpfs of the layout in which the mount point is to be made,
	// or "/" for the bare directories; empty if the host shows around it.
	In string
}

// Holds reports whether the i-th mount of the layout is staged.
func (s Stage) Holds(i int) bool { return s.held[i] }

// HoldsLinks reports whether all links that l pins are staged: nobody else can
// pin them.
func (s Stage) HoldsLinks(l Layout) bool {
	for i, m := range l.Mounts {
		if m.Op == PinLink && !s.held[i] {
			return false
		}
	}
	return true
}

// Worth reports whether a layout is cheaper to build in part outside of
// bubblewrap, or only possible that way.
func Worth(l Layout) bool {
	binds := 0
	for _, m := range l.Mounts {
		switch m.Op {
		case PinLink:
			return true // bubblewrap follows links where it mounts
		case ROBind, Bind, Pin, MaskFile:
			if !slices.Contains(KeyLists, m.Path) { // bubblewrap's in any case
				binds++
			}
		}
	}
	return binds > stageBinds || len(l.Mounts) > stageMounts
}

// NewStage divides l. The zero value says that all of it is bubblewrap's.
func NewStage(l Layout) Stage {
	s := Stage{Root: -1, held: map[int]bool{}}
	fixed := fixedPlaces(l)
	made := map[string]Op{} // operation by path, to find what a mount lies in
	sites := map[string]bool{}
	for i, m := range l.Mounts {
		in, masked := surroundings(made, m.Path)
		made[m.Path] = m.Op
		if m.Path == "/" {
			s.Root = i
		}
		if touches(fixed, m.Path) || path.Dir(m.Path) == "/" && !isDir(m) {
			continue
		}
		if masked && m.Op != Symlink {
			return Stage{} // masks are shared, so nothing can be in one
		}
		s.held[i] = true
		if masked {
			continue // hidden with the rest of what is there
		}
		s.Mounts = append(s.Mounts, Staged{Index: i, In: in})
		site := m.Path
		if s.Root < 0 {
			site = topLevel(m.Path)
		}
		if !within(sites, site) {
			sites[site] = true
			s.Sites = append(s.Sites, site)
		}
	}
	s.keepWhole(l)
	s.Points = freePoints(l)
	return s
}

// wholeSites is how many sites that are one bind bubblewrap keeps: enough for
// the system's own directories, too few to be felt.
const wholeSites = 8

// keepWhole leaves the first sites that are one bind to bubblewrap. What it
// starts inside may be linked dynamically, and finds its loader then.
func (s *Stage) keepWhole(l Layout) {
	if s.Root >= 0 {
		return
	}
	mounts := map[string]int{}
	for _, m := range s.Mounts {
		mounts[topLevel(l.Mounts[m.Index].Path)]++
	}
	kept := 0
	s.Mounts = slices.DeleteFunc(s.Mounts, func(m Staged) bool {
		bind := l.Mounts[m.Index]
		whole := kept < wholeSites && mounts[bind.Path] == 1 && (bind.Op == ROBind || bind.Op == Bind)
		if whole {
			kept++
			delete(s.held, m.Index)
			s.Sites = slices.DeleteFunc(s.Sites, func(site string) bool { return site == bind.Path })
		}
		return whole
	})
}

// fixedPlaces lists what bubblewrap has to make itself.
func fixedPlaces(l Layout) (places []string) {
	for _, m := range l.Mounts {
		if m.Op == Dev || m.Op == Proc {
			places = append(places, m.Path)
		}
	}
	return places
}

// touches reports whether p is one of the places, around one or below one.
func touches(places []string, p string) bool {
	return slices.ContainsFunc(places, func(q string) bool {
		return policy.Contains(p, q) || policy.Contains(q, p)
	})
}

func isDir(m Mount) bool {
	switch m.Op {
	case ROBind, Bind:
		return m.Type == policy.TypeDir
	}
	return m.Op == Tmpfs || m.Op == MaskDir || m.Op == Pin
}

// surroundings finds the tmpfs in which p lies, "/" if no mount is around it
// and "" if another one is, and reports whether that is a mask.
func surroundings(made map[string]Op, p string) (in string, masked bool) {
	for p != "/" {
		p = path.Dir(p)
		op, found := made[p]
		switch {
		case !found || op == Symlink:
		case op == Tmpfs:
			return p, false
		default:
			return "", op == MaskDir
		}
	}
	return "/", false
}

// within reports whether p is one of the sites or lies below one.
func within(sites map[string]bool, p string) bool {
	for ; p != "/"; p = path.Dir(p) {
		if sites[p] {
			return true
		}
	}
	return false
}

func topLevel(p string) string {
	for path.Dir(p) != "/" {
		p = path.Dir(p)
	}
	return p
}

// points are directories that most machines have and few policies show.
var points = []string{"/sys", "/mnt", "/media", "/srv", "/run", "/boot", "/opt", "/lost+found"}

// freePoints are the points that no bind shows or lies in. The root's own bind
// is no obstacle: it is taken before anything is mounted.
func freePoints(l Layout) (free []string) {
	for _, p := range points {
		if !slices.ContainsFunc(l.Mounts, func(m Mount) bool {
			return m.Op.FromHost() && m.Path != "/" && (policy.Contains(m.Path, p) || policy.Contains(p, m.Path))
		}) {
			free = append(free, p)
		}
	}
	return free
}
