//go:build unix

package files

import (
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
)

func TestRead(t *testing.T) {
	root := tree(t,
		"docs/a.md = hello", "docs/bom.md = \ufeffhello\r\n", "docs/empty.md", "docs/accent.md = äöü€𝄞x",
		"docs/in.md -> a.md", "docs/to-pics.md -> ../pics/p.txt", "docs/dir-link -> ../pics", "docs/abs.md -> $T/pics/p.txt",
		"pics/p.txt = picture", "docs/bell.md = a\x07b",
	)
	f := tools(t, nil, mount(t, "docs", root+"/docs", "ro"), mount(t, "pics", root+"/pics", "ro"))
	for _, tc := range []struct {
		path string
		max  int
		want Text
	}{
		{"docs/a.md", 100, Text{"hello", false, 5}},
		{"docs:a.md", 5, Text{"hello", false, 5}},
		{"docs/a.md", 4, Text{"hell", true, 5}},
		{"docs/bom.md", 100, Text{"hello\r\n", false, 10}},
		{"docs/bom.md", 5, Text{"hello", true, 10}},
		{"docs/empty.md", 1, Text{"", false, 0}},
		{"docs/accent.md", 100, Text{"äöü€𝄞x", false, 14}},
		{"docs/accent.md", 5, Text{"äöü€𝄞", true, 14}},
		{"docs/accent.md", 6, Text{"äöü€𝄞x", false, 14}},
		{"docs/bell.md", 9, Text{"a\ab", false, 3}},
		{"docs/in.md", 100, Text{"hello", false, 5}},
		{"docs/to-pics.md", 100, Text{"picture", false, 7}},
		{"docs/abs.md", 100, Text{"picture", false, 7}},
		{"docs/dir-link/p.txt", 100, Text{"picture", false, 7}},
	} {
		got, err := f.Read(tc.path, tc.max)
		require.NoError(t, err, tc.path)
		assert.Equal(t, tc.want, got, tc.path)
	}
}

func TestReadRefuses(t *testing.T) {
	root := tree(t,
		"docs/a.md = hello", "docs/secret/k.md = secret", "docs/to-secret.md -> secret/k.md", "docs/out.md -> ../outside/f", "docs/up.md -> ../docs/../outside/f",
		"outside/f = outside", "docs/b.exe = MZ", "docs/l.md -> b.exe", "docs/big.md = 0123456789", "docs/nul.md = a\x00b", "docs/latin.md = caf\xe9",
		"docs/u16.md = \xff\xfea\x00", "docs/dir/", "docs/loop.md -> loop.md", "docs/gone.md -> nothing", "docs/Readme.md",
	)
	require.NoError(t, syscall.Mkfifo(root+"/docs/pipe.md", 0o666))
	l, err := net.Listen("unix", root+"/docs/sock.md")
	require.NoError(t, err)
	defer l.Close()
	f := tools(t, []string{"secret"}, mount(t, "docs", root+"/docs", "ro", suffixes(".md"), maxFileBytes(9)))

	for _, tc := range []struct {
		name, path, want string
		as               any
	}{
		{"outside", "../outside/f", "Cannot read '../outside/f': path is outside sandbox.\nReadable paths: ./docs", new(*policy.PathNotInSandboxError)},
		{"absolute", "/etc/passwd", "Cannot read '/etc/passwd': path is outside sandbox.\nReadable paths: ./docs", new(*policy.PathNotInSandboxError)},
		{"a link out", "docs/out.md", "Cannot read 'docs/out.md': path is outside sandbox.\nReadable paths: ./docs", new(*policy.PathNotInSandboxError)},
		{"a link out by dots", "docs/up.md", "Cannot read 'docs/up.md': path is outside sandbox.\nReadable paths: ./docs", new(*policy.PathNotInSandboxError)},
		{"denied", "docs/secret/k.md", "Cannot read 'docs/secret/k.md': path is outside sandbox.\nReadable paths: ./docs", new(*policy.PathNotInSandboxError)},
		{"a link to what is denied", "docs/to-secret.md", "Cannot read 'docs/to-secret.md': path is outside sandbox.\nReadable paths: ./docs", new(*policy.PathNotInSandboxError)},
		{"suffix", "docs/b.exe", "Cannot access 'docs/b.exe': suffix not allowed.\nAllowed suffixes: .md", new(*policy.SuffixNotAllowedError)},
		{"suffix of what a link leads to", "docs/l.md", "Cannot access 'docs/l.md': suffix not allowed.\nAllowed suffixes: .md", new(*policy.SuffixNotAllowedError)},
		{"suffix of what is missing", "docs/none.exe", "Cannot access 'docs/none.exe': suffix not allowed.\nAllowed suffixes: .md", new(*policy.SuffixNotAllowedError)},
		{"size", "docs/big.md", "Cannot read 'docs/big.md': file too large (10 bytes).\nMaximum allowed: 9 bytes", new(*policy.FileTooLargeError)},
		{"a NUL", "docs/nul.md", "Cannot read 'docs/nul.md': not a text file: it holds a NUL, at byte 1.", new(*NotTextError)},
		{"not UTF-8", "docs/latin.md", "Cannot read 'docs/latin.md': not a text file: it is not UTF-8, at byte 3.", new(*NotTextError)},
		{"UTF-16", "docs/u16.md", "Cannot read 'docs/u16.md': not a text file: it is UTF-16, and only UTF-8 is read.", new(*NotTextError)},
		{"a directory", "docs/dir", "Cannot read 'docs/dir': it is a directory, not a file.", new(*WrongTypeError)},
		{"a mount", "docs", "Cannot read 'docs': it is a directory, not a file.", new(*WrongTypeError)},
		{"a pipe without a writer", "docs/pipe.md", "Cannot read 'docs/pipe.md': it is a named pipe, not a file.", new(*WrongTypeError)},
		{"a socket", "docs/sock.md", "Cannot read 'docs/sock.md': it is a socket, not a file.", new(*WrongTypeError)},
		{"a file with a slash", "docs/a.md/", "Cannot read 'docs/a.md/': it is a file, not a directory.", new(*WrongTypeError)},
		{"below a file", "docs/a.md/x", "Cannot read 'docs/a.md/x': a part of the path is a file, not a directory.", new(*policy.InvalidPathError)},
		{"a loop", "docs/loop.md", "Cannot read 'docs/loop.md': too many levels of symbolic links.", new(*policy.InvalidPathError)},
		{"missing", "docs/README.md", "Cannot read 'docs/README.md': no such file or directory.\nLike names: docs/Readme.md", new(*NotFoundError)},
		{"missing, nothing like it", "docs/zzzzzz.md", "Cannot read 'docs/zzzzzz.md': no such file or directory.", new(*NotFoundError)},
		{"missing directory", "docs/dri/x.md", "Cannot read 'docs/dri/x.md': no such file or directory.", new(*NotFoundError)},
		{"a dangling link", "docs/gone.md", "", new(*policy.SuffixNotAllowedError)},
		{"empty", "", "Cannot read '': the path is empty.", new(*policy.InvalidPathError)},
		{"NUL", "docs/a\x00.md", `Cannot read 'docs/a\x00.md': the path holds a NUL.`, new(*policy.InvalidPathError)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := f.Read(tc.path, DefaultMaxChars)
			require.ErrorAs(t, err, tc.as)
			if tc.want != "" {
				assert.Equal(t, tc.want, err.Error())
			}
			assert.Zero(t, got)
			assert.NotContains(t, err.Error(), root)
		})
	}
	_, err = f.Read("docs/none.md", 10)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = f.Read("docs/a.md", 0)
	assert.EqualError(t, err, "max_chars: '0': at least 1 is needed")
	_, err = f.Read("docs/a.md", 10) // the control
	assert.NoError(t, err)
}

func TestNearNamesStayInside(t *testing.T) {
	root := tree(t, "p/src/main.go", "p/src/.env.go", "p/src/hidden/", "p/docs/x")
	f := tools(t, []string{".env.go", "hidden"}, mount(t, "/", root+"/p", "ro"))
	for asked, want := range map[string][]string{
		"/src/mian.go":  {"/src/main.go"},
		"src/Main.go":   {"src/main.go"},
		"/srcs/main.go": {"/src"},
		"/src/.envv.go": nil,
		"/src/hiddem":   nil,
	} {
		_, err := f.Read(asked, 10)
		var missing *NotFoundError
		require.ErrorAs(t, err, &missing, asked)
		assert.Equal(t, want, missing.Near, asked)
	}
}

func TestReadManyCharacters(t *testing.T) {
	text := strings.Repeat("é€", 5000)
	root := tree(t, "p/f = "+text)
	f := tools(t, nil, mount(t, "/", root+"/p", "ro"))
	for _, max := range []int{1, 9999, 10_000, 10_001, 1 << 40} {
		got, err := f.Read("f", max)
		require.NoError(t, err)
		assert.Equal(t, min(max, 10_000), utf8.RuneCountInString(got.Content))
		assert.Equal(t, max < 10_000, got.Truncated)
		assert.True(t, strings.HasPrefix(text, got.Content))
	}
}

// A character that the limit on bytes could cut in two is never cut.
func TestDecodeNeverCutsACharacter(t *testing.T) {
	for _, text := range []string{"", "a", "é", "€uro", "𝄞𝄞𝄞", "\ufeff𝄞é", "aé€𝄞"} {
		for max := 1; max < 6; max++ {
			want := []rune(strings.TrimPrefix(text, byteOrderMark))
			got, more, err := decode([]byte(text), max)
			require.NoError(t, err)
			assert.Equal(t, string(want[:min(max, len(want))]), got)
			assert.Equal(t, len(want) > max, more)
		}
	}
}

func TestUnreadableFileIsSaidSo(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root may read everything; the error is made up instead")
		f := tools(t, nil, mount(t, "pp", tree(t, "p/f"), "ro"))
		err := f.failed(policy.Read, "pp/f", "/x/f", syscall.EACCES)
		assert.EqualError(t, err, "Cannot read 'pp/f': permission denied.")
		assert.ErrorIs(t, err, fs.ErrPermission)
		return
	}
	root := tree(t, "p/f = x")
	require.NoError(t, os.Chmod(root+"/p/f", 0))
	_, err := tools(t, nil, mount(t, "pp", root+"/p", "ro")).Read("pp/f", 10)
	assert.EqualError(t, err, "Cannot read 'pp/f': permission denied.")
	assert.ErrorIs(t, err, fs.ErrPermission)
}
