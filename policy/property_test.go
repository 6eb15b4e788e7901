package policy

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	worlds            = 24
	requestsPerWorld  = 10
	wantedTripleCount = 5000
)

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
