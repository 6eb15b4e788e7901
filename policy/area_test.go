package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAccessIsASet(t *testing.T) {
	all := []Access{None, Read, Write, ReadWrite}
	for _, a := range all {
		assert.True(t, a.Has(None))
		for _, b := range all {
			assert.Equal(t, a.Meet(b) == b, a.Has(b))
			assert.True(t, a.Join(b).Has(a))
			assert.True(t, a.Has(a.Meet(b)))
		}
	}
	assert.Equal(t, []string{"none", "read", "write", "read+write"}, []string{None.String(), Read.String(), Write.String(), ReadWrite.String()})
}

func TestAreaMostSpecificDecides(t *testing.T) {
	a := NewArea(
		Entry{Path: "/p", Access: ReadWrite, Kind: Granted},
		Entry{Path: "/p/ro", Access: Read, Kind: Granted},
		Entry{Path: "/p/ro/x/y", Access: Write, Kind: Granted},
		Entry{Path: "/p/secret", Kind: Hidden},
	)
	for p, want := range map[string]Access{
		"/": None, "/other": None, "/p": ReadWrite, "/p/a": ReadWrite, "/pp": None, "/p/ro": Read, "/p/ro/x": Read,
		"/p/ro/x/y": Write, "/p/ro/x/y/z": Write, "/p/ro/x/yy": Read, "/p/rose": ReadWrite, "/p/secret/k": None,
	} {
		assert.Equal(t, want, a.At(p).Access, p)
	}
	assert.Equal(t, "/", a.At("/nowhere").Path)
	assert.Equal(t, Entry{Path: "/"}, Area{}.At("/x"))
	assert.Equal(t, "/p", a.Above("/p/ro").Path)
	assert.Equal(t, "/", a.Above("/").Path)
}

func TestAreaRoots(t *testing.T) {
	a := NewArea(
		Entry{Path: "/usr", Access: Read, Kind: System},
		Entry{Path: "/usr/local/x", Access: Read, Kind: Granted},
		Entry{Path: "/p", Access: ReadWrite, Kind: Granted},
		Entry{Path: "/p/inner", Access: Read, Kind: Granted},
		Entry{Path: "/p/hidden", Kind: Hidden},
		Entry{Path: "/p/hidden/shown", Access: Read, Kind: Granted},
		Entry{Path: "/drop", Access: Write, Kind: Granted},
	)
	assert.Equal(t, []string{"/p", "/p/hidden/shown", "/usr/local/x"}, a.Roots(Read))
	assert.Equal(t, []string{"/drop", "/p"}, a.Roots(Write))
}

// Everything about areas, against the plain definition: of all entries whose
// path contains p the longest decides, of equal ones the last.
func TestAreaAgainstDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		given, other := randomEntries(random), randomEntries(random)
		a, b := NewArea(given...), NewArea(other...)
		join := func(at []Entry) Entry { return Entry{Access: at[0].Access.Join(at[1].Access), Kind: Granted} }
		both := pointwise(join, a, b)
		over := a.Overlay(other...)
		cut := a.Cut(other...)
		for range 40 {
			p := randomPath(random, "ab", 5)
			assertEntry(t, defined(given, p), a.At(p), p)
			assertEntry(t, defined(slices.Concat(a.Entries(), other), p), over.At(p), p)
			if top := defined(other, p); top.Path != "" {
				assertEntry(t, top, cut.At(p), p)
			} else {
				assertEntry(t, defined(given, p), cut.At(p), p)
			}
			assert.Equal(t, a.At(p).Access.Join(b.At(p).Access), both.At(p).Access, p)
		}
		assertNormal(t, a)
		assertNormal(t, both)
		assertNormal(t, cut)
		assert.Equal(t, a.Entries(), NewArea(a.Entries()...).Entries(), "building again changes nothing")
	}
}

func TestAreaHasOneNormalForm(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		given := randomEntries(random)
		slices.SortFunc(given, func(a, b Entry) int { return ComparePaths(a.Path, b.Path) })
		given = slices.CompactFunc(given, func(a, b Entry) bool { return a.Path == b.Path })
		shuffled := slices.Clone(given)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		assert.Equal(t, NewArea(given...), NewArea(shuffled...))
	}
}

func TestPointwiseKeepsTheTypeOfTheListedPath(t *testing.T) {
	a := NewArea(Entry{Path: "/p", Access: Write, Kind: Granted, Type: TypeDir})
	b := NewArea(Entry{Path: "/p/f", Access: Read, Kind: Granted, Type: TypeFile}, Entry{Path: "/p/f/g", Kind: Hidden})
	both := pointwise(func(at []Entry) Entry {
		return Entry{Access: at[0].Access.Join(at[1].Access), Kind: at[0].Kind}
	}, a, b)
	require.Len(t, both.Entries(), 3)
	assert.Equal(t, TypeDir, both.At("/p").Type)
	assert.Equal(t, TypeFile, both.At("/p/f").Type)
}

func TestAreaAtAllocatesNothing(t *testing.T) {
	a := largeArea(10_000)
	p := "/srv/project-77/module-42/source/deep/below/the/entry.go"
	assert.Zero(t, testing.AllocsPerRun(100, func() { a.At(p) }))
	e := Effective{Area: a}
	assert.True(t, e.CanRead(p))
	assert.Zero(t, testing.AllocsPerRun(100, func() { e.CanRead(p) }))
	assert.Zero(t, testing.AllocsPerRun(100, func() { e.CanWrite(p) }))
}

// largeArea has n entries that all change something.
func largeArea(n int) Area {
	entries := make([]Entry, n)
	for i := range entries {
		access := Read
		if i%2 == 1 {
			access = ReadWrite
		}
		entries[i] = Entry{Path: fmt.Sprintf("/srv/project-%d/module-%d/source", i/100, i%100), Access: access, Kind: Granted, Type: TypeDir}
	}
	return NewArea(entries...)
}

// defined is At by definition; Path is empty where no entry holds p.
func defined(entries []Entry, p string) Entry {
	best := Entry{}
	for _, e := range entries {
		if Contains(e.Path, p) && len(e.Path) >= len(best.Path) {
			best = e
		}
	}
	return best
}

func assertEntry(t *testing.T, want, got Entry, p string) {
	t.Helper()
	assert.Equal(t, want.Access, got.Access, p)
	assert.Equal(t, want.Kind, got.Kind, p)
}

// assertNormal checks order, uniqueness and that every entry changes
// something.
func assertNormal(t *testing.T, a Area) {
	t.Helper()
	for i, e := range a.Entries() {
		if i > 0 {
			assert.Negative(t, ComparePaths(a.Entries()[i-1].Path, e.Path))
		}
		assert.False(t, e.sameEffect(a.Above(e.Path)), e.Path)
		assert.True(t, a.Lists(e.Path))
	}
}

func randomEntries(random *rand.Rand) []Entry {
	entries := make([]Entry, random.IntN(8))
	for i := range entries {
		entries[i] = Entry{Path: randomPath(random, "ab", 4), Access: Access(random.IntN(4)), Kind: Granted}
		if entries[i].Access == None {
			entries[i].Kind = Hidden
		}
	}
	return entries
}
