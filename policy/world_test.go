package policy

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// world is a generated tree with a sandbox on it: nested mounts, links within
// and out, denies of every form, places of the system and private ones.
type world struct {
	random *rand.Rand
	root   string
	dirs   []string // directories, relative to root
	hosts  []string // canonical host paths to ask about, existing or not
	asked  []string // sandbox paths to ask about
	parent Sandbox
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{random: rand.New(rand.NewPCG(seed, 99)), root: tree(t)}
	w.grow(t)
	spec := w.spec(t)
	s, err := New(spec)
	require.NoError(t, err)
	if w.random.IntN(2) == 0 {
		s, err = s.Expand()
		require.NoError(t, err)
	}
	w.parent = s
	w.collect(t)
	return w
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

func (w *world) grow(t *testing.T) {
	names := []string{"a", "b", "c", "d-e", "d"}
	w.dirs = []string{"."}
	for range 14 {
		dir := filepath.Join(pick(w.random, w.dirs), pick(w.random, names))
		if strings.Count(dir, "/") < 4 && os.MkdirAll(filepath.Join(w.root, dir), 0o755) == nil {
			w.dirs = append(w.dirs, dir)
		}
	}
	for range 14 {
		_ = os.WriteFile(filepath.Join(w.root, pick(w.random, w.dirs), pick(w.random, []string{"f", "g.pem", ".env", "a"})), nil, 0o644)
	}
	for range 10 {
		from := pick(w.random, w.dirs)
		to := filepath.Join(w.root, pick(w.random, w.dirs), pick(w.random, []string{".", "f", "none", "l", "..", "a/../b"}))
		if rel, err := filepath.Rel(filepath.Join(w.root, from), to); err == nil && w.random.IntN(2) == 0 {
			to = rel
		}
		_ = os.Symlink(to, filepath.Join(w.root, from, pick(w.random, []string{"l", "m", "b"})))
	}
}

// host returns the canonical host path of a generated directory.
func (w *world) host(dir string) string {
	r, err := Resolve(filepath.Join(w.root, dir))
	if err != nil {
		return w.root
	}
	return r.Path
}

func (w *world) spec(t *testing.T) Spec {
	spec := Spec{Form: Form(w.random.IntN(2))}
	taken := map[string]bool{}
	for i := range 1 + w.random.IntN(5) {
		root := w.host(pick(w.random, w.dirs))
		if r, _ := Resolve(root); taken[root] || r.Type != TypeDir {
			continue
		}
		taken[root] = true
		name := []string{"one", "two", "three", "", "five"}[i]
		if spec.Form == RootForm {
			name = []string{"/", "", "", "", ""}[len(spec.Mounts)]
		}
		spec.Mounts = append(spec.Mounts, mountAt(t, name, root, Mode(w.random.IntN(2))))
	}
	if len(spec.Mounts) == 0 {
		spec.Mounts = []Mount{mountAt(t, []string{"one", "/"}[spec.Form], w.root, ReadAndWrite)}
	}
	for range w.random.IntN(3) {
		pattern := pick(w.random, []string{".env", "*.pem", "./" + pick(w.random, w.dirs) + "/b", "**/c", "l", w.root + "/*/a", "d-e"})
		if d, err := ParseDeny(pattern, w.root, "", Rule{Text: "deny " + pattern}); err == nil {
			spec.Denies = append(spec.Denies, d)
		}
	}
	for i := range w.random.IntN(3) {
		e := Entry{Path: w.host(pick(w.random, w.dirs)), Type: TypeDir, Access: Read, Kind: System}
		if i == 1 {
			e.Access, e.Kind = None, Private
		}
		spec.Base.Entries = append(spec.Base.Entries, e)
	}
	return spec
}

// collect gathers the paths to ask about: all that exist, a new name in each
// directory, and sandbox paths with every odd turn.
func (w *world) collect(t *testing.T) {
	require.NoError(t, filepath.WalkDir(w.root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink == 0 {
			w.hosts = append(w.hosts, p)
		}
		if err == nil && d.IsDir() {
			w.hosts = append(w.hosts, join(p, "new"))
		}
		names := []string{}
		for _, m := range w.parent.spec.Mounts {
			if m.Name != "" && Contains(m.Root, p) {
				names = append(names, joinWritten(m.Name, relativeTo(m.Root, p)))
			}
		}
		for _, name := range names {
			w.asked = append(w.asked, name, name+"/new", name+"/../"+filepath.Base(p), name+"/b/..")
		}
		return nil
	}))
	w.random.Shuffle(len(w.asked), func(i, j int) { w.asked[i], w.asked[j] = w.asked[j], w.asked[i] })
	w.asked = append(w.asked[:min(len(w.asked), 40)], "..", "/", "one:a", "~", "/etc/passwd", "one/../two", "none/x")
}

// entry makes a list entry: mostly a place that s has, at times anything.
func (w *world) entry(s Sandbox) string {
	for range 10 {
		host := pick(w.random, w.hosts)
		if name, ok := s.SandboxPath(host); ok && s.area.At(host).Access != None {
			return name
		}
	}
	return pick(w.random, w.asked)
}

func (w *world) request(s Sandbox) Request {
	r := Request{Inherit: w.random.IntN(2) == 0}
	if w.random.IntN(3) == 0 {
		r.Readonly = new(w.random.IntN(3) > 0)
	}
	list := func() []string {
		all := []string{}
		for range w.random.IntN(5) {
			all = append(all, w.entry(s))
		}
		return all
	}
	if w.random.IntN(10) == 0 {
		r.AllowRead = []string{pick(w.random, w.asked)}
	} else if w.random.IntN(3) > 0 {
		r.AllowRead = list()
	}
	if w.random.IntN(3) > 0 {
		r.AllowWrite = list()
	}
	return r
}

// derived returns a request and the child it gives, trying until one fits.
func (w *world) derived(s Sandbox) (Request, Sandbox, bool) {
	for range 30 {
		r := w.request(s)
		if child, err := s.Derive(r); err == nil {
			return r, child, true
		}
	}
	return Request{}, Sandbox{}, false
}
