package policy

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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

const (
	worlds            = 24
	requestsPerWorld  = 10
	wantedTripleCount = 5000
)

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

func TestDeriveProperties(t *testing.T) {
	t.Parallel()
	triples, chains, allowed, chained := 0, 0, 0, 0
	for seed := range uint64(worlds) {
		w := newWorld(t, seed)
		for range requestsPerWorld {
			request, child, ok := w.derived(w.parent)
			if !ok {
				continue
			}
			triples += len(w.hosts)
			allowed += w.checkOracle(t, request, child)
			w.checkSubset(t, w.parent, child)
			w.checkExplain(t, child)

			second, grandchild, ok := w.derived(child)
			if !ok {
				continue
			}
			w.checkSubset(t, child, grandchild)
			if both, ok := w.conjunction(request, second); ok {
				if direct, err := w.parent.Derive(both); err == nil {
					chains++
					chained += w.checkEqual(t, direct, grandchild, request, second, both)
				}
			}
			if t.Failed() {
				t.Fatalf("world %d: %+v", seed, request)
			}
		}
	}
	t.Logf("%d triples, %d of them allowed; %d chains with %d accesses", triples, allowed, chains, chained)
	assert.Greater(t, triples, wantedTripleCount)
	assert.Greater(t, allowed, wantedTripleCount/10, "the requests are not all empty")
	assert.Greater(t, chains, worlds, "the chains are not all undefined")
	assert.Greater(t, chained, worlds, "nor all empty")
}

// checkSubset: child(p) ⊆ parent(p), on host paths and on sandbox paths.
func (w *world) checkSubset(t *testing.T, parent, child Sandbox) {
	t.Helper()
	pe, ce := parent.Effective(), child.Effective()
	for _, p := range w.hosts {
		assert.True(t, !ce.CanRead(p) || pe.CanRead(p), "read %s", p)
		assert.True(t, !ce.CanWrite(p) || pe.CanWrite(p), "write %s", p)
		assert.True(t, pe.Area.At(p).Access.Has(ce.Area.At(p).Access), p)
	}
	for _, p := range w.asked {
		assert.True(t, !child.CanRead(p) || parent.CanRead(p), "read %s", p)
		assert.True(t, !child.CanWrite(p) || parent.CanWrite(p), "write %s", p)
	}
}

// checkExplain: what Explain, Decide, Locate and Resolve say about a path is
// one answer.
func (w *world) checkExplain(t *testing.T, s Sandbox) {
	t.Helper()
	e := s.Effective()
	for _, p := range w.asked {
		for _, op := range []Access{Read, Write} {
			x := s.Explain(op, p)
			_, err := s.Locate(op, p)
			assert.Equal(t, err == nil, x.Allowed, "%s %s: %v", op, p, err)
			assert.NotEmpty(t, x.Reason, p)
			if x.Allowed {
				assert.True(t, e.can(op, x.Resolved), "%s %s", op, p)
				host, err := s.Resolve(p)
				assert.NoError(t, err)
				assert.Equal(t, x.Resolved, host)
				assert.Empty(t, x.AllowWith)
			}
		}
		_, err := s.Resolve(p)
		assert.Equal(t, s.CanRead(p) || s.CanWrite(p), err == nil, p)
	}
	for _, p := range w.hosts {
		for _, op := range []Access{Read, Write} {
			_, d, err := e.Look(op, p)
			require.NoError(t, err)
			assert.Equal(t, e.can(op, p), d.Allowed, "%s %s", op, p)
		}
	}
}

// checkOracle computes the child's access from the definition, without areas:
// what a mount gave is bounded by the base and the lists, everything else
// stays. It returns how many accesses it found allowed.
func (w *world) checkOracle(t *testing.T, r Request, child Sandbox) int {
	t.Helper()
	reads, writes := w.spanned(r.AllowRead), w.spanned(r.AllowWrite)
	switch {
	case r.AllowRead == nil && r.AllowWrite == nil && r.Inherit:
		reads, writes = []string{"/"}, []string{"/"}
	case r.AllowRead == nil:
		reads = writes
	}
	if r.readonly() {
		writes = nil
	}
	inside := func(prefixes []string, p string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return Contains(prefix, p) })
	}
	allowed := 0
	for _, p := range w.hosts {
		parent := w.parent.area.At(p)
		want := parent.Access
		if parent.Kind == Granted || parent.Kind == Protected {
			var listed Access
			if inside(reads, p) {
				listed |= Read
			}
			if inside(writes, p) {
				listed |= Write
			}
			want = parent.Access.Meet(listed.Join(w.parent.base.At(p).Access))
		}
		assert.Equal(t, want, child.area.At(p).Access, "%s with %+v", p, r)
		if child.Effective().CanRead(p) {
			allowed++
		}
	}
	return allowed
}

// spanned returns the host prefixes that entries stand for, found with the
// standard library alone.
func (w *world) spanned(entries []string) []string {
	var prefixes []string
	for _, entry := range entries {
		host, err := w.parent.placeOf(entry)
		if err != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(host)
		if err != nil { // it does not exist yet
			r, err := Resolve(host)
			if err != nil {
				continue
			}
			real = r.Path
		}
		if info, err := os.Stat(real); err == nil && !info.IsDir() {
			if m, ok := mountOf(real, w.parent.spec.Mounts); ok && m.Root != real {
				real = filepath.Dir(real)
			}
		}
		prefixes = append(prefixes, real)
	}
	return prefixes
}

// conjunction returns a ∧ b, the request that asks for what both ask for. It
// is false where no request says that.
func (w *world) conjunction(a, b Request) (Request, bool) {
	both := Request{Inherit: a.Inherit && b.Inherit}
	if a.readonly() || b.readonly() {
		both.Readonly = new(true)
	}
	aRead, aWrite, aAll := a.lists()
	bRead, bWrite, bAll := b.lists()
	switch {
	case aAll && bAll:
		return both, true
	case aAll:
		both.AllowRead, both.AllowWrite = bRead, bWrite
	case bAll:
		both.AllowRead, both.AllowWrite = aRead, aWrite
	default:
		var okRead, okWrite bool
		both.AllowRead, okRead = w.common(aRead, bRead)
		both.AllowWrite, okWrite = w.common(aWrite, bWrite)
		if !okRead || !okWrite {
			return Request{}, false
		}
	}
	if both.AllowRead == nil {
		both.AllowRead = []string{}
	}
	if both.AllowWrite == nil {
		both.AllowWrite = []string{}
	}
	return both, true
}

// common intersects two lists: of two prefixes the longer, if it lies in the
// other.
func (w *world) common(a, b []string) ([]string, bool) {
	all := []string{}
	for _, x := range w.spanned(a) {
		for _, y := range w.spanned(b) {
			longer, shorter := x, y
			if len(x) < len(y) {
				longer, shorter = y, x
			}
			if !Contains(shorter, longer) {
				continue
			}
			name, ok := w.parent.SandboxPath(longer)
			if !ok {
				return nil, false
			}
			all = append(all, name)
		}
	}
	return all, true
}

// checkEqual compares two ways to one sandbox and returns how many accesses
// mounts give there.
func (w *world) checkEqual(t *testing.T, direct, chained Sandbox, requests ...Request) int {
	t.Helper()
	given := 0
	de, ce := direct.Effective(), chained.Effective()
	for _, p := range w.hosts {
		assert.Equal(t, de.Area.At(p).Access, ce.Area.At(p).Access, "%s: %+v", p, requests)
		assert.Equal(t, de.CanRead(p), ce.CanRead(p), p)
		assert.Equal(t, de.CanWrite(p), ce.CanWrite(p), p)
		if ce.CanRead(p) && ce.Area.At(p).Kind == Granted {
			given++
		}
	}
	return given
}

// Restrict is everything below, and Deny closes in every child what it closes
// in one.
func TestRestrictAndDenyProperties(t *testing.T) {
	t.Parallel()
	restricted, denied := 0, 0
	for seed := range uint64(worlds) {
		w := newWorld(t, 1000+seed)
		for range requestsPerWorld {
			r := Request{Restrict: w.entry(w.parent)}
			child, err := w.parent.Derive(r)
			if err == nil {
				restricted++
				w.checkSubset(t, w.parent, child)
				top := w.spanned([]string{r.Restrict})
				for _, p := range w.hosts {
					if Contains(top[0], p) {
						assert.Equal(t, w.parent.area.At(p).Access, child.area.At(p).Access, p)
					} else if k := w.parent.area.At(p).Kind; k == Granted || k == Protected {
						assert.True(t, w.parent.base.At(p).Access.Has(child.area.At(p).Access), p)
					}
				}
			}
			pattern := pick(w.random, []string{"f", "*.pem", "./a", "**/b"})
			deny := Request{Inherit: true, Deny: []Deny{mustDeny(t, pattern, w.root, "")}}
			child, err = w.parent.Derive(deny)
			require.NoError(t, err)
			w.checkSubset(t, w.parent, child)
			_, grandchild, ok := w.derived(child)
			if !ok {
				continue
			}
			for _, p := range w.hosts {
				if child.spec.Denies[len(child.spec.Denies)-1].covers(p) {
					denied++
					assert.False(t, grandchild.Effective().CanRead(p), p)
					assert.False(t, grandchild.Effective().CanWrite(p), p)
				}
			}
		}
	}
	assert.Greater(t, restricted, worlds)
	assert.Greater(t, denied, worlds)
}

// Meet(s, callee)(p) = s(p) ∩ callee(p), for two sandboxes on one tree.
func TestMeetProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(worlds) {
		w := newWorld(t, 2000+seed)
		for range requestsPerWorld {
			callee, err := New(w.spec(t))
			require.NoError(t, err)
			met := w.parent.Meet(callee)
			ce, pe, me := callee.Effective(), w.parent.Effective(), met.Effective()
			for _, p := range w.hosts {
				assert.Equal(t, ce.CanRead(p) && pe.CanRead(p), me.CanRead(p), "read %s", p)
				assert.Equal(t, ce.CanWrite(p) && pe.CanWrite(p), me.CanWrite(p), "write %s", p)
			}
			if _, child, ok := w.derived(met); ok {
				w.checkSubset(t, met, child)
			}
		}
		if t.Failed() {
			t.Fatalf("world %d", seed)
		}
	}
}

// Expanding changes no answer about a path but that of a denied link's target,
// and then only to no.
func TestExpandProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(worlds) {
		w := newWorld(t, 3000+seed)
		before := mustNew(t, w.parent.spec).Effective()
		after, err := before.Expand()
		require.NoError(t, err)
		for _, p := range w.hosts {
			assert.True(t, !after.CanRead(p) || before.CanRead(p), p)
			assert.True(t, !after.CanWrite(p) || before.CanWrite(p), p)
			// What exists and is denied is closed in the area itself.
			if _, err := os.Lstat(p); err == nil {
				assert.Equal(t, after.CanRead(p), after.Area.At(p).Access.Has(Read), p)
			}
		}
	}
}
