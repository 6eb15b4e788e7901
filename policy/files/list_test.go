//go:build unix

package files

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
)

func TestList(t *testing.T) {
	root := tree(t,
		"p/src/main.go", "p/src/deep/er.go", "p/src/.hidden.go", "p/docs/x.md", "p/secret/key", "p/README.md", "p/empty/",
		"p/to-docs -> docs", "p/to-x.md -> docs/x.md", "p/out -> ../outside", "p/gone -> nothing", "p/to-key -> secret/key", "p/loop -> loop", "outside/o",
	)
	require.NoError(t, syscall.Mkfifo(root+"/p/pipe", 0o666))
	f := tools(t, []string{"secret"}, mount(t, "/", root+"/p", "ro"))
	all := []string{
		"README.md", "docs/", "docs/x.md", "empty/", "pipe", "src/", "src/.hidden.go", "src/deep/", "src/deep/er.go", "src/main.go", "to-docs/", "to-x.md",
	}
	for _, tc := range []struct {
		path, pattern string
		want          []string
	}{
		{".", DefaultPattern, all},
		{"/", DefaultPattern, all},
		{".", "*", []string{"README.md", "docs/", "empty/", "pipe", "src/", "to-docs/", "to-x.md"}},
		{".", "**/*.go", []string{"src/.hidden.go", "src/deep/er.go", "src/main.go"}},
		{".", "src/*.go", []string{"src/.hidden.go", "src/main.go"}},
		{".", "{docs,src}/*.{md,go}", []string{"docs/x.md", "src/.hidden.go", "src/main.go"}},
		{".", "no*such", nil},
		{"src", "**", []string{".hidden.go", "deep/", "deep/er.go", "main.go"}},
		{"/src/deep", "*", []string{"er.go"}},
		{"to-docs", "*", []string{"x.md"}},
		{"empty", DefaultPattern, nil},
		{"src", "deep", []string{"deep/"}},
	} {
		got, err := f.List(tc.path, tc.pattern)
		require.NoError(t, err, tc.path)
		assert.Equal(t, tc.want, got, "%s %s", tc.path, tc.pattern)
	}
}

func TestListInThePathForm(t *testing.T) {
	root := tree(t, "one/a", "one/in/b", "two/c", "three.txt", "one/in/deep/d")
	f := tools(t, []string{"./one/in"}, mount(t, "base", root+"/one", "ro"))
	got, err := f.List(".", DefaultPattern)
	require.NoError(t, err)
	assert.Equal(t, []string{"base/", "base/a", "base/in/", "base/in/b", "base/in/deep/", "base/in/deep/d"}, got, "the pattern counts from the file's directory")

	f = tools(t, nil, mount(t, "base", root+"/one", "ro"), mount(t, "two", root+"/two", "rw"), mount(t, "file", root+"/three.txt", "ro"))
	got, err = f.List(".", "**")
	require.NoError(t, err)
	assert.Equal(t, []string{"base/", "base/a", "base/in/", "base/in/b", "base/in/deep/", "base/in/deep/d", "file", "two/", "two/c"}, got)
	got, err = f.List(".", "*/*")
	require.NoError(t, err)
	assert.Equal(t, []string{"base/a", "base/in/", "two/c"}, got)
	got, err = f.List("base", "*")
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "in/"}, got)
}

// What is shown further down is listed where it lies, and nothing between.
func TestListShowsPlacesBelowWhatIsHidden(t *testing.T) {
	root := tree(t, "p/a/b/shown/f", "p/a/b/other/g", "p/src/x", "p/src/in/y")
	s, err := policy.New(policy.Spec{Form: policy.RootForm, Mounts: []policy.Mount{mount(t, "/", root+"/p", "rw")}})
	require.NoError(t, err)
	child, err := s.Derive(policy.Request{AllowRead: []string{"/a/b/shown", "/src/in"}})
	require.NoError(t, err)
	f := New(child)
	for path, want := range map[string][]string{
		".":   {"a/b/shown/", "a/b/shown/f", "src/in/", "src/in/y"},
		"/a":  {"b/shown/", "b/shown/f"},
		"src": {"in/", "in/y"},
	} {
		got, err := f.List(path, DefaultPattern)
		require.NoError(t, err, path)
		assert.Equal(t, want, got, path)
	}
	_, err = f.List("/a/b/other", DefaultPattern)
	assert.EqualError(t, err, "Cannot read '/a/b/other': path is outside sandbox.\nReadable paths: /a/b/shown, /src/in")

	empty, err := s.Derive(policy.Request{})
	require.NoError(t, err)
	_, err = New(empty).List(".", DefaultPattern)
	assert.EqualError(t, err, "Cannot read '.': path is outside sandbox.\nReadable paths: none")
}

func TestListRefuses(t *testing.T) {
	root := tree(t, "p/f", "p/d/", "p/out -> ../outside", "outside/x")
	f := tools(t, nil, mount(t, "/", root+"/p", "ro"))
	for _, tc := range []struct{ path, pattern, want string }{
		{"..", "*", "Cannot read '..': path is outside sandbox.\nReadable paths: /"},
		{"out", "*", "Cannot read 'out': path is outside sandbox.\nReadable paths: /"},
		{"f", "*", "Cannot read 'f': it is a file, not a directory."},
		{"none", "*", "Cannot read 'none': no such file or directory."},
		{"d", "", "pattern: '': it is empty; **/* matches everything"},
		{"d", "/etc/*", "pattern: '/etc/*': it counts from the directory that is listed, so it cannot start with '/'"},
		{"d", "../*", "pattern: '../*': '..' is not allowed"},
		{"d", "a[", "pattern: 'a[': a bracket or brace is not closed; a backslash before it makes it an ordinary character"},
		{"d", "\x00", `pattern: '\x00': it holds a NUL`},
		{"d", "{a,b}{a,b}{a,b}{a,b}{a,b}", "pattern: '{a,b}{a,b}{a,b}{a,b}{a,b}': too many alternatives in braces; write several patterns"},
	} {
		_, err := f.List(tc.path, tc.pattern)
		assert.EqualError(t, err, tc.want, tc.path)
	}
}

func TestAttach(t *testing.T) {
	root := tree(t, "p/a.pdf = 12345", "p/b.pdf = 1234567890", "p/c.txt = x", "p/d/", "p/out.pdf -> ../outside.pdf", "outside.pdf = x", "p/l.pdf -> c.txt")
	f := tools(t, nil, mount(t, "/", root+"/p", "ro"))
	limits := AttachmentPolicy{MaxCount: 2, MaxBytes: 15, Suffixes: []string{".pdf"}}

	got, err := f.Attach(limits, "/a.pdf", "b.pdf")
	require.NoError(t, err)
	assert.Equal(t, []Attachment{{"/a.pdf", root + "/p/a.pdf", 5}, {"b.pdf", root + "/p/b.pdf", 10}}, got)
	got, err = f.Attach(limits)
	require.NoError(t, err)
	assert.Empty(t, got)
	got, err = f.Attach(AttachmentPolicy{}, "a.pdf", "b.pdf", "c.txt")
	require.NoError(t, err)
	assert.Len(t, got, 3)

	for _, tc := range []struct {
		limits AttachmentPolicy
		paths  []string
		want   string
	}{
		{limits, []string{"a.pdf", "a.pdf", "a.pdf"}, "Cannot attach 'a.pdf': 3 files are too many (attachments.max_count).\nAllowed: 2"},
		{AttachmentPolicy{MaxBytes: 14}, []string{"a.pdf", "b.pdf"}, "Cannot attach 'b.pdf': 15 bytes in all are too many (attachments.max_bytes).\nAllowed: 14"},
		{limits, []string{"c.txt"}, "Cannot attach 'c.txt': suffix not allowed (attachments.suffixes).\nAllowed: .pdf"},
		{limits, []string{"l.pdf"}, "Cannot attach 'l.pdf': suffix not allowed (attachments.suffixes).\nAllowed: .pdf"},
		{limits, []string{"out.pdf"}, "Cannot read 'out.pdf': path is outside sandbox.\nReadable paths: /"},
		{limits, []string{"d"}, "Cannot read 'd': it is a directory, not a file."},
		{limits, []string{"none.pdf"}, "Cannot read 'none.pdf': no such file or directory."},
	} {
		got, err := f.Attach(tc.limits, tc.paths...)
		assert.EqualError(t, err, tc.want)
		assert.Nil(t, got)
	}

	narrow := tools(t, nil, mount(t, "/", root+"/p", "ro", suffixes(".txt"), maxFileBytes(3)))
	_, err = narrow.Attach(AttachmentPolicy{}, "a.pdf")
	assert.ErrorAs(t, err, new(*policy.SuffixNotAllowedError), "the caller's own tools cannot read it either")
}
