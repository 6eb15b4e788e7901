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
	// stageBinds is the number of binds from which that is faster.
	stageBinds = 64

	// stageMounts is the number of mounts of any kind, of which none takes
	// more than six arguments, that stays well below MaxArgs.
	stageMounts = 1200
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

// Worth reports whether a layout is cheaper to build in part outside of
// bubblewrap, or only possible that way.
func Worth(l Layout) bool {
	binds := 0
	for _, m := range l.Mounts {
		switch m.Op {
		case ROBind, Bind, Pin, MaskFile:
			binds++
		}
	}
	return binds > stageBinds || len(l.Mounts) > stageMounts
}

// NewStage divides l.
func NewStage(l Layout) Stage {
	s := Stage{Root: -1, held: map[int]bool{}}
	fixed := fixedPlaces(l)
	made := map[string]Op{} // operation by path, to find what a mount lies in
	sites := map[string]bool{}
	for i, m := range l.Mounts {
		in := memory(made, m.Path)
		made[m.Path] = m.Op
		if m.Path == "/" {
			s.Root = i
		}
		if touches(fixed, m.Path) || path.Dir(m.Path) == "/" && !isDir(m) {
			continue
		}
		s.held[i] = true
		if m.Op == Symlink && in == "" {
			continue // in a mask, where there is no place for it
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
	s.Points = freePoints(l)
	return s
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

// memory finds the tmpfs in which p lies; "" if another mount is around it.
func memory(made map[string]Op, p string) string {
	for p != "/" {
		p = path.Dir(p)
		switch op, found := made[p]; {
		case found && op == Tmpfs:
			return p
		case found && op != Symlink:
			return ""
		}
	}
	return "/"
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
