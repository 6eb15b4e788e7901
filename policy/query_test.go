package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Group 1 and 2 of the design's list of tests: what root sandboxes resolve,
// and what they refuse.
func TestRootFormResolves(t *testing.T) {
	root := tree(t, "src/main.go", "docs/", "in -> src/main.go", "etc/x", "a\\b")
	s := rootForm(t, root, ReadAndWrite)
	for p, want := range map[string]string{
		"/src/main.go":          "/src/main.go",
		"src/main.go":           "/src/main.go",
		"./src//main.go":        "/src/main.go",
		`src\main.go`:           "/src/main.go",
		"/":                     "",
		".":                     "",
		"src/../docs":           "/docs",
		"/in":                   "/src/main.go",
		"not/yet/there":         "/not/yet/there",
		"/new":                  "/new",
		"/etc/x":                "/etc/x", // the program has an etc
		"etc/passwd":            "/etc/passwd",
		"./~":                   "/~",
		"./c:x":                 "/c:x",
		"docs/":                 "/docs",
		"/src/./../src/main.go": "/src/main.go",
	} {
		got, err := s.Resolve(p)
		require.NoError(t, err, p)
		assert.Equal(t, root+want, got, p)
		assert.True(t, s.CanRead(p), p)
		assert.True(t, s.CanWrite(p), p)
	}
}

func TestRootFormRefuses(t *testing.T) {
	root := tree(t, "p/src/main.go", "p/out -> ../outside", "p/abs -> $T/outside/f", "p/up -> ..", "p/hop -> up/outside", "outside/f")
	s := rootForm(t, root+"/p", ReadAndWrite)
	for _, p := range []string{
		"..", "../outside/f", "/../outside", "src/../../outside/f", "/src/../../p/src", `..\outside`,
		"out/f", "abs", "up/outside/f", "hop/f", "up",
		"~", "~/x", "~root/x", "C:/x", `c:\x`, "C:", `\\server\share`,
		"/etc/passwd", "/tmp/x", "/usr", "/Users/me", root + "/p/src/main.go",
	} {
		var outside *PathNotInSandboxError
		_, err := s.Resolve(p)
		require.ErrorAs(t, err, &outside, p)
		assert.Equal(t, p, outside.Path)
		assert.Equal(t, []string{"/"}, outside.Boundary)
		assert.False(t, s.CanRead(p), p)
		assert.False(t, s.CanWrite(p), p)
		assert.False(t, s.Explain(Read, p).Allowed, p)
		assert.NotContains(t, strings.ReplaceAll(err.Error(), p, ""), root, "no host path in %q", err)
	}
	var outside *PathNotInSandboxError
	_, err := s.Locate(Write, "/tmp/x")
	require.ErrorAs(t, err, &outside)
	assert.Equal(t, "tmp/x", outside.Inside)
	assert.Contains(t, outside.Hint(), "tmp/x")
	assert.True(t, s.CanWrite(outside.Inside))
	for p, problem := range map[string]string{
		"":                       "the path is empty",
		"a\x00b":                 "the path holds a NUL",
		"src/main.go/x":          "a part of the path is a file, not a directory",
		"none/../src":            "a part of the path does not exist",
		strings.Repeat("n", 300): "file name too long",
	} {
		var invalid *InvalidPathError
		_, err := s.Resolve(p)
		require.ErrorAs(t, err, &invalid, p)
		assert.Equal(t, problem, invalid.Problem)
		assert.False(t, s.CanRead(p))
		assert.NotContains(t, err.Error(), root)
	}
}

func TestPathFormResolves(t *testing.T) {
	root := tree(t, "output/reports/a.md", "input/b", "input/over -> ../output/reports", "input/up -> ..")
	s := pathForm(t, root, "output rw", "input ro")
	for p, want := range map[string]string{
		"output": "/output", "output/": "/output", "output:": "/output", "./output/reports": "/output/reports",
		"output/reports/a.md": "/output/reports/a.md", "output:reports/a.md": "/output/reports/a.md", "output:/reports": "/output/reports",
		`output\reports`: "/output/reports", "input/over/a.md": "/output/reports/a.md", "output/a:b": "/output/a:b", "output/new/x": "/output/new/x",
		"input/up/output": "/output", // through a bare directory on the way to both
	} {
		got, err := s.Resolve(p)
		require.NoError(t, err, p)
		assert.Equal(t, root+want, got)
		assert.True(t, s.CanRead(p))
	}
	assert.True(t, s.CanWrite("input/over/a.md"), "the place decides, not the way to it")
	assert.False(t, s.CanWrite("input/b"))
	for _, p := range []string{"/output", "/etc/passwd", "other", "Output", ".", "..", "output/..", "output/../input", "input/up", "/", "x:y", "o"} {
		_, err := s.Resolve(p)
		var outside *PathNotInSandboxError
		require.ErrorAs(t, err, &outside, p)
		assert.Equal(t, []string{"./output", "./input"}, outside.Boundary, "as written, in the order written")
	}
	var readonly *PathNotWritableError
	_, err := s.Locate(Write, "input/b")
	require.ErrorAs(t, err, &readonly)
	assert.Equal(t, []string{"./output"}, readonly.Writable)
}

// What an error lists can be asked for.
func TestBoundariesAreSandboxPaths(t *testing.T) {
	root := tree(t, "one/sub/f", "elsewhere/x", "pre/x")
	named := mountAt(t, "docs", root+"/elsewhere", ReadOnly)
	named.Written = "../elsewhere"
	preset := mountAt(t, "", root+"/pre", ReadOnly)
	s := mustNew(t, Spec{Mounts: []Mount{mountAt(t, "one", root+"/one", ReadAndWrite), named, preset}})
	child := mustDerive(t, s, Request{AllowRead: []string{"one/sub", "docs"}})
	_, err := child.Resolve("one/x")
	var outside *PathNotInSandboxError
	require.ErrorAs(t, err, &outside)
	assert.Equal(t, []string{"./one/sub", "docs"}, outside.Boundary)
	for _, p := range outside.Boundary {
		assert.True(t, child.CanRead(p), p)
	}
	assert.Equal(t, []string{"one/sub", "docs"}, child.ReadableRoots())
	assert.Empty(t, child.WritableRoots())
	assert.Equal(t, []string{"./one", "../elsewhere", "./"}, s.Effective().ReadableAsWritten())
	assert.Equal(t, []string{"./one"}, s.Effective().WritableAsWritten())

	p, ok := s.SandboxPath(root + "/elsewhere/x")
	assert.True(t, ok)
	assert.Equal(t, "docs/x", p)
	_, ok = s.SandboxPath(root + "/pre/x")
	assert.False(t, ok)
}

func TestRootsOfTheRootForm(t *testing.T) {
	root := tree(t, "src/", "lib/")
	s := rootForm(t, root, ReadAndWrite)
	assert.Equal(t, []string{"/"}, s.ReadableRoots())
	child := mustDerive(t, s, Request{AllowRead: []string{"/src", "/lib"}, AllowWrite: []string{"/lib"}})
	assert.Equal(t, []string{"/lib", "/src"}, child.ReadableRoots())
	assert.Equal(t, []string{"/lib"}, child.WritableRoots())
	assert.Equal(t, []string{"./lib", "./src"}, child.Effective().ReadableAsWritten())
	_, err := child.Locate(Write, "/src/a")
	assert.EqualError(t, err, "Cannot write to '/src/a': path is read-only.\nWritable paths: /lib")
	_, err = child.Locate(Write, "/x")
	assert.EqualError(t, err, "Cannot write to '/x': path is outside sandbox.\nWritable paths: /lib")
}

func TestToolRules(t *testing.T) {
	root := tree(t, "docs/a.md = 12345", "docs/b.exe", "docs/link.md -> b.exe", "docs/raw/c.exe = 123456789", "free/x.exe")
	docs := mountAt(t, "docs", root+"/docs", ReadAndWrite)
	docs.Suffixes, docs.MaxFileBytes, docs.ReadApproval, docs.WriteApproval = []string{".md"}, 4, true, false
	raw := mountAt(t, "", root+"/docs/raw", ReadOnly)
	s := mustNew(t, Spec{Mounts: []Mount{docs, raw, mountAt(t, "free", root+"/free", ReadOnly)}})

	assert.NoError(t, s.CheckSuffix("docs/a.md"))
	assert.NoError(t, s.CheckSuffix("docs/new.MD"))
	assert.NoError(t, s.CheckSuffix("docs/raw/c.exe"), "the inner mount decides")
	assert.NoError(t, s.CheckSuffix("free/x.exe"))
	var suffix *SuffixNotAllowedError
	require.ErrorAs(t, s.CheckSuffix("docs/b.exe"), &suffix)
	assert.Equal(t, []string{".md"}, suffix.Allowed)
	assert.ErrorAs(t, s.CheckSuffix("docs/link.md"), &suffix, "the file decides, not the link")
	assert.Error(t, s.CheckSuffix("none/x"))

	var large *FileTooLargeError
	require.ErrorAs(t, s.CheckSize("docs/a.md"), &large)
	assert.Equal(t, FileTooLargeError{Path: "docs/a.md", Size: 5, Limit: 4}, *large)
	assert.NoError(t, s.CheckSize("docs/raw/c.exe"))
	assert.NoError(t, s.CheckSize("docs/b.exe"))
	assert.Error(t, s.CheckSize("../x"))

	for _, tc := range []struct {
		op   Access
		path string
		want bool
	}{{Read, "docs/a.md", true}, {Write, "docs/a.md", false}, {Read, "free/x.exe", false}} {
		got, err := s.NeedsApproval(tc.op, tc.path)
		require.NoError(t, err)
		assert.Equal(t, tc.want, got, tc.path)
	}
	_, err := s.NeedsApproval(Write, "free/x.exe")
	assert.Error(t, err)

	x := s.Explain(Read, "docs/a.md")
	assert.True(t, x.Allowed, "the kernel allows it")
	assert.EqualError(t, x.Tools, "Cannot read 'docs/a.md': file too large (5 bytes).\nMaximum allowed: 4 bytes")
	x = s.Explain(Write, "docs/b.exe")
	assert.True(t, x.Allowed)
	assert.ErrorContains(t, x.Tools, "'docs/b.exe': suffix not allowed")
	assert.NoError(t, s.Explain(Read, "docs").Tools, "directories have no suffix")
	assert.NoError(t, s.Explain(Read, "free/x.exe").Tools)
	assert.Equal(t, "the path is empty", s.Explain(Read, "").Reason)
}

func TestNetworkEnabled(t *testing.T) {
	for mode, want := range map[NetworkMode]bool{NetworkOff: false, NetworkList: true, NetworkOn: true} {
		assert.Equal(t, want, mustNew(t, Spec{Network: Network{Mode: mode}}).NetworkEnabled())
	}
}

func TestReadableBelow(t *testing.T) {
	root := tree(t, "p/a/in/f", "p/a/other", "p/b/x", "p/to-a -> a", "p/out -> ../outside", "p/way -> ../outside/../p/a", "outside/x", "p/f", "p/loop -> loop")
	s := rootForm(t, root+"/p", ReadAndWrite)
	child := mustDerive(t, s, Request{AllowRead: []string{"/a/in", "/b"}})
	for _, tc := range []struct {
		s     Sandbox
		path  string
		host  string
		roots []string
	}{
		{s, "/", "/p", []string{"/p"}},
		{s, "to-a", "/p/a", []string{"/p/a"}},
		{child, "/", "/p", []string{"/p/a/in", "/p/b"}},
		{child, "a", "/p/a", []string{"/p/a/in"}},
		{child, "/b", "/p/b", []string{"/p/b"}},
	} {
		host, roots, err := tc.s.ReadableBelow(tc.path)
		require.NoError(t, err, tc.path)
		assert.Equal(t, root+tc.host, host)
		for i := range tc.roots {
			tc.roots[i] = root + tc.roots[i]
		}
		assert.Equal(t, tc.roots, roots)
	}
	for _, tc := range []struct {
		s    Sandbox
		path string
		want error
	}{
		{s, "out", &PathNotInSandboxError{}}, {s, "way", &PathNotInSandboxError{}}, {s, "..", &PathNotInSandboxError{}},
		{child, "/a/other", &PathNotInSandboxError{}}, {s, "f/x", &InvalidPathError{}}, {s, "loop", &InvalidPathError{}}, {s, "", &InvalidPathError{}},
	} {
		_, _, err := tc.s.ReadableBelow(tc.path)
		assert.IsType(t, tc.want, err, tc.path)
	}
}
