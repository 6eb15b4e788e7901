package policy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// access probes sandbox paths: "r" and "w" for what is allowed, "-" for
// neither.
func access(s Sandbox, paths ...string) map[string]string {
	got := make(map[string]string, len(paths))
	for _, p := range paths {
		if s.CanRead(p) {
			got[p] += "r"
		}
		if s.CanWrite(p) {
			got[p] += "w"
		}
		if got[p] == "" {
			got[p] = "-"
		}
	}
	return got
}

func assertAccess(t *testing.T, s Sandbox, want map[string]string) {
	t.Helper()
	paths := make([]string, 0, len(want))
	for p := range want {
		paths = append(paths, p)
	}
	assert.Equal(t, want, access(s, paths...))
}

// The rules of derivation, one by one, in both forms.
func TestDerive(t *testing.T) {
	root := tree(t, "src/a.go", "src/deep/b.go", "docs/x.md", "out/log")
	rf := rootForm(t, root, ReadAndWrite)
	pf := pathForm(t, root, "src rw", "docs ro", "out rw")

	for _, tc := range []struct {
		name    string
		parent  Sandbox
		request Request
		want    map[string]string
	}{
		{"nothing asked, nothing given", rf, Request{}, map[string]string{"/src/a.go": "-", "/": "-"}},
		{"inherit", rf, Request{Inherit: true}, map[string]string{"/src/a.go": "rw", "/": "rw"}},
		{"read list, no writes", rf, Request{AllowRead: []string{"/src"}}, map[string]string{"/src/a.go": "r", "/src/deep/b.go": "r", "/docs/x.md": "-", "/": "-"}},
		{"write list is the read list too", rf, Request{AllowWrite: []string{"/out"}}, map[string]string{"/out/log": "rw", "/out/new": "rw", "/src/a.go": "-"}},
		{"both lists", rf, Request{AllowRead: []string{"/src", "/out"}, AllowWrite: []string{"/out"}}, map[string]string{"/src/a.go": "r", "/out/log": "rw"}},
		{"write list alone where the read list is elsewhere: a drop box", rf, Request{AllowRead: []string{"/src"}, AllowWrite: []string{"/out"}}, map[string]string{"/src/a.go": "r", "/out/log": "w"}},
		{"empty read list", rf, Request{AllowRead: []string{}, Inherit: true}, map[string]string{"/src/a.go": "-"}},
		{"empty write list", rf, Request{AllowWrite: []string{}, Inherit: true}, map[string]string{"/src/a.go": "-"}},
		{"inherit with a read list: the list bounds, no writes", rf, Request{Inherit: true, AllowRead: []string{"/src"}}, map[string]string{"/src/a.go": "r", "/docs/x.md": "-"}},
		{"a file stands for its directory", rf, Request{AllowRead: []string{"/src/deep/b.go"}}, map[string]string{"/src/deep/b.go": "r", "/src/deep/new": "r", "/src/a.go": "-"}},
		{"what does not exist yet", rf, Request{AllowWrite: []string{"/new/place"}}, map[string]string{"/new/place/x": "rw", "/new": "-", "/newer": "-"}},
		{"readonly alone gives nothing", rf, Request{Readonly: new(true)}, map[string]string{"/src/a.go": "-"}},
		{"readonly inherit", rf, Request{Readonly: new(true), Inherit: true}, map[string]string{"/src/a.go": "r"}},
		{"readonly over a write list", rf, Request{Readonly: new(true), AllowWrite: []string{"/out"}}, map[string]string{"/out/log": "r", "/src/a.go": "-"}},
		{"readonly false where there are writes", rf, Request{Readonly: new(false), Inherit: true}, map[string]string{"/src/a.go": "rw"}},
		{"restrict keeps everything below", rf, Request{Restrict: "/src"}, map[string]string{"/src/a.go": "rw", "/docs/x.md": "-"}},
		{"restrict, readonly", rf, Request{Restrict: "/src", Readonly: new(true)}, map[string]string{"/src/a.go": "r", "/docs/x.md": "-"}},
		{"lists apply to what restrict leaves", rf, Request{Restrict: "/src", AllowRead: []string{"/src/deep"}}, map[string]string{"/src/deep/b.go": "r", "/src/a.go": "-"}},
		{"the namespace stays", rf, Request{Restrict: "/src/deep"}, map[string]string{"/src/deep/b.go": "rw", "/b.go": "-"}},

		{"path form: a mount", pf, Request{AllowRead: []string{"src"}}, map[string]string{"src/a.go": "r", "docs/x.md": "-"}},
		{"path form: below a mount", pf, Request{AllowRead: []string{"src/deep"}}, map[string]string{"src/deep/b.go": "r", "src/a.go": "-"}},
		{"path form: with a colon", pf, Request{AllowRead: []string{"src:deep"}}, map[string]string{"src/deep/b.go": "r", "src/a.go": "-"}},
		{"path form: a file in the root of its mount", pf, Request{AllowRead: []string{"src/a.go"}}, map[string]string{"src/deep/b.go": "r", "docs/x.md": "-"}},
		{"path form: inherit keeps the modes", pf, Request{Inherit: true}, map[string]string{"src/a.go": "rw", "docs/x.md": "r", "out/log": "rw"}},
		{"path form: restrict", pf, Request{Restrict: "docs"}, map[string]string{"docs/x.md": "r", "src/a.go": "-"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			child := mustDerive(t, tc.parent, tc.request)
			assertAccess(t, child, tc.want)
			assertNarrower(t, tc.parent, child, root)
		})
	}
}

// assertNarrower checks the places of both areas.
func assertNarrower(t *testing.T, parent, child Sandbox, more ...string) {
	t.Helper()
	for _, e := range append(parent.area.Entries(), child.area.Entries()...) {
		more = append(more, e.Path, join(e.Path, "below"))
	}
	for _, p := range more {
		assert.True(t, parent.area.At(p).Access.Has(child.area.At(p).Access), p)
	}
}

// A mount that is one file stands for itself: its directory is outside.
func TestDeriveClipsFilesToTheirMount(t *testing.T) {
	root := tree(t, "dir/one.md", "dir/two.md")
	s := mustNew(t, Spec{Mounts: []Mount{mountAt(t, "one.md", root+"/dir/one.md", ReadAndWrite)}})
	child := mustDerive(t, s, Request{AllowRead: []string{"one.md"}})
	assert.True(t, child.CanRead("one.md"))
	assert.False(t, child.Effective().CanRead(root+"/dir/two.md"))
}

// Traps 4 and 5: a mount inside another comes with the outer one, keeps its
// own mode, and dropping it never shows what lies beneath.
func TestDeriveKeepsInnerMounts(t *testing.T) {
	root := tree(t, "data/a", "data/special/s", "data/special/open/o", "elsewhere/x")
	s := mustNew(t, Spec{Mounts: []Mount{
		mountAt(t, "data", root+"/data", ReadAndWrite),
		mountAt(t, "special", root+"/data/special", ReadOnly),
		mountAt(t, "", root+"/data/special/open", ReadAndWrite),
		mountAt(t, "elsewhere", root+"/elsewhere", ReadOnly),
	}})
	child := mustDerive(t, s, Request{AllowWrite: []string{"data"}})
	assertAccess(t, child, map[string]string{
		"data/a": "rw", "data/special/s": "r", "special/s": "r", "data/special/open/o": "rw", "elsewhere/x": "-",
	})
	assert.Equal(t, []string{"data"}, child.ReadableRoots())

	only := mustDerive(t, s, Request{AllowRead: []string{"elsewhere"}})
	assertAccess(t, only, map[string]string{"data/a": "-", "data/special/s": "-", "elsewhere/x": "r"})

	inner := mustDerive(t, s, Request{AllowRead: []string{"special"}})
	assertAccess(t, inner, map[string]string{"data/a": "-", "data/special/s": "r", "data/special/open/o": "r"})

	readonly := mustDerive(t, s, Request{Inherit: true, Readonly: new(true)})
	assertAccess(t, readonly, map[string]string{"data/a": "r", "data/special/open/o": "r"})
	for _, m := range readonly.Effective().Mounts {
		assert.Equal(t, ReadOnly, m.Mode, m.Name)
	}
}

// What a list drops falls back to the base, but never to more than the parent
// had, through any number of steps.
func TestDeriveFallsBackToTheBase(t *testing.T) {
	root := tree(t, "usr/lib/x", "usr/local/f", "usr/drop/f", "tmp/work/f", "home/p/f", "home/p/.env")
	base := Base{Entries: []Entry{
		{Path: root + "/usr", Access: Read, Kind: System, Type: TypeDir},
		{Path: root + "/tmp", Kind: Private, Type: TypeDir},
		{Path: root + "/home", Kind: Private, Type: TypeDir},
	}}
	s := mustNew(t, Spec{Base: base, Denies: []Deny{mustDeny(t, root+"/home/p/.env", "/", "")}, Mounts: []Mount{
		mountAt(t, "local", root+"/usr/local", ReadAndWrite), mountAt(t, "drop", root+"/usr/drop", ReadAndWrite),
		mountAt(t, "work", root+"/tmp/work", ReadAndWrite), mountAt(t, "proj", root+"/home/p", ReadAndWrite),
	}})
	at := func(s Sandbox, p string) Entry { return s.Effective().Area.At(root + p) }

	none := mustDerive(t, s, Request{})
	assert.Equal(t, System, at(none, "/usr/local/f").Kind)
	assert.Equal(t, Read, at(none, "/usr/local/f").Access)
	assert.Equal(t, Private, at(none, "/tmp/work/f").Kind)
	assert.Equal(t, Private, at(none, "/home/p/f").Kind)
	assert.Equal(t, Hidden, at(none, "/home/p/.env").Kind, "a deny survives")
	assert.Empty(t, none.Effective().Readable())

	// A drop box inside /usr: as long as it is listed for writing alone the
	// base adds reading, because the parent has that too.
	drop := mustDerive(t, s, Request{AllowRead: []string{"proj"}, AllowWrite: []string{"drop"}})
	assert.Equal(t, ReadWrite, at(drop, "/usr/drop/f").Access)

	// A parent that never had reading there gives none.
	writeOnly := drop
	writeOnly.area = writeOnly.area.Cut(Entry{Path: root + "/usr/drop", Access: Write, Kind: Granted, Type: TypeDir})
	dropped := mustDerive(t, writeOnly, Request{AllowRead: []string{"proj"}})
	assert.Equal(t, Entry{Path: root + "/usr/drop", Kind: Hidden, Type: TypeDir}, at(dropped, "/usr/drop/f"))
	again := mustDerive(t, dropped, Request{Inherit: true})
	assert.Equal(t, None, at(again, "/usr/drop/f").Access)
	assertNarrower(t, writeOnly, dropped)
	assertNarrower(t, dropped, again)
}

func TestDeriveNarrowsProtectedFiles(t *testing.T) {
	root := tree(t, "p/sbx.yaml", "p/src/a")
	s := mustNew(t, Spec{Form: RootForm, Mounts: []Mount{mountAt(t, "/", root+"/p", ReadAndWrite)}, Guarded: []string{root + "/p/sbx.yaml"}})
	assertAccess(t, s, map[string]string{"/sbx.yaml": "r"})
	assertAccess(t, mustDerive(t, s, Request{Inherit: true}), map[string]string{"/sbx.yaml": "r"})
	assertAccess(t, mustDerive(t, s, Request{AllowWrite: []string{"/"}}), map[string]string{"/sbx.yaml": "r", "/src/a": "rw"})
	assertAccess(t, mustDerive(t, s, Request{AllowWrite: []string{"/src"}}), map[string]string{"/sbx.yaml": "-", "/src/a": "rw"})
	box := mustDerive(t, s, Request{AllowRead: []string{"/src"}, AllowWrite: []string{"/"}})
	assertAccess(t, box, map[string]string{"/sbx.yaml": "-", "/src/a": "rw", "/x": "w"})
	_, err := s.Derive(Request{AllowWrite: []string{"/sbx.yaml"}})
	assert.ErrorContains(t, err, "closed for good")
}

func TestDeriveNarrowsTheRest(t *testing.T) {
	root := tree(t, "docs/", "pics/")
	docs, pics := mountAt(t, "docs", root+"/docs", ReadAndWrite), mountAt(t, "pics", root+"/pics", ReadOnly)
	docs.Suffixes, docs.MaxFileBytes = []string{".md", ".pdf"}, 100
	pics.Suffixes = []string{".png"}
	s := mustNew(t, Spec{
		Mounts: []Mount{docs, pics}, Limits: Limits{Memory: 1000},
		Network: Network{Mode: NetworkList, Allow: hosts(t, "*.example.com"), Deny: hosts(t, "bad.example.com")},
	})
	child := mustDerive(t, s, Request{
		Inherit: true, Suffixes: []string{".md", ".png"}, MaxFileBytes: 500, Limits: Limits{Memory: 10, Processes: 4},
		Network: &Network{Mode: NetworkList, Allow: hosts(t, "a.example.com:443")},
		Deny:    []Deny{mustDeny(t, "secret", root, "")},
	})
	e := child.Effective()
	assert.Equal(t, []string{".md"}, e.Mounts[0].Suffixes)
	assert.EqualValues(t, 100, e.Mounts[0].MaxFileBytes)
	assert.Equal(t, []string{".png"}, e.Mounts[1].Suffixes)
	assert.EqualValues(t, 500, e.Mounts[1].MaxFileBytes)
	assert.Equal(t, Limits{Memory: 10, Processes: 4}, e.Limits)
	assert.Equal(t, hosts(t, "a.example.com:443"), e.Network.Allow)
	assert.Equal(t, hosts(t, "bad.example.com"), e.Network.Deny)
	assert.False(t, child.CanRead("docs/secret/x"))
	assert.True(t, s.CanRead("docs/secret/x"), "the parent is as it was")
	assert.EqualValues(t, 1000, s.Effective().Limits.Memory)

	none := mustDerive(t, child, Request{Inherit: true, Suffixes: []string{}, Network: &Network{}})
	assert.Error(t, none.CheckSuffix("docs/a.md"))
	assert.False(t, none.NetworkEnabled())
	assert.False(t, none.CanRead("docs/secret/x"), "a deny survives every derivation")
}

func TestDeriveDenyNamesASymlinksTarget(t *testing.T) {
	root := tree(t, "p/real", "p/link -> real")
	s := rootForm(t, root+"/p", ReadAndWrite)
	child := mustDerive(t, s, Request{Inherit: true, Deny: []Deny{mustDeny(t, "./link", root+"/p", "")}})
	assert.False(t, child.CanRead("/real"))
}

// H: a link that somebody swaps in after the derivation leads where it leads:
// the child stays bound to the place that was named.
func TestDeriveBindsPlacesNotNames(t *testing.T) {
	root := tree(t, "p/src/a", "p/other/b", "p/entry -> src")
	s := rootForm(t, root+"/p", ReadOnly)
	child := mustDerive(t, s, Request{AllowRead: []string{"/entry"}})
	assertAccess(t, child, map[string]string{"/src/a": "r", "/other/b": "-"})
	require.NoError(t, replaceLink(root+"/p/entry", "other"))
	assertAccess(t, child, map[string]string{"/entry/b": "-", "/src/a": "r"})
}

func TestExplainNamesTheStepThatNarrowed(t *testing.T) {
	root := tree(t, "src/a", "docs/b", "outside/c")
	s := pathForm(t, root, "src rw", "docs ro")
	worker := mustDerive(t, s, Request{AllowRead: []string{"src", "docs"}, Rule: Rule{File: "sbx.yaml", Line: 9, Text: "worker analyzer"}})
	flags := mustDerive(t, worker, Request{AllowRead: []string{"src"}, Rule: Rule{Text: "--allow-read src"}})

	x := flags.Explain(Read, "docs/b")
	assert.Equal(t, "granted to the parent sandbox, but not to this one", x.Reason)
	assert.Equal(t, "--allow-read src", x.Entry.Rule.String())
	assert.Empty(t, x.AllowWith, "a grant would be bounded by the list too")

	x = flags.Explain(Write, "src/a")
	assert.Equal(t, "sbx.yaml:9", x.Entry.Rule.String())

	x = flags.Effective().Explain(Read, root+"/outside/c")
	assert.Equal(t, "outside the sandbox", x.Reason)
	assert.Empty(t, x.AllowWith)
	assert.Equal(t, "--ro "+root+"/outside/c", s.Effective().Explain(Read, root+"/outside/c").AllowWith)

	inherited := mustDerive(t, s, Request{Inherit: true, Readonly: new(true)})
	assert.NotEmpty(t, inherited.Effective().Explain(Read, root+"/outside/c").AllowWith, "a grant to read passes on")
	assert.Empty(t, inherited.Effective().Explain(Write, root+"/outside/c").AllowWith)
}
