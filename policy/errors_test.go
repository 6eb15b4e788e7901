package policy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with the file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestErrorTexts(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("./m%d", i)
	}
	var b strings.Builder
	for _, err := range []error{
		&PathNotInSandboxError{Op: Read, Path: "/etc/passwd", Boundary: []string{"./portfolio", "./pipeline", "./framework"}},
		&PathNotInSandboxError{Op: Write, Path: "x", Boundary: nil},
		&PathNotInSandboxError{Op: Write, Path: "/tmp/x", Boundary: []string{"/"}, Inside: "tmp/x"},
		&PathNotInSandboxError{Op: None, Path: "a\x1b[2J\nb\xff\"'", Boundary: []string{"./tab\t"}},
		&PathNotInSandboxError{Op: Read, Path: "x", Boundary: many},
		&InvalidPathError{Op: Read, Path: "a\x00b", Problem: "the path holds a NUL"},
		&PathNotWritableError{Path: "pipeline/a.pdf", Writable: []string{"./portfolio"}},
		&PathNotWritableError{Path: "pipeline/a.pdf"},
		&SuffixNotAllowedError{Path: "portfolio/a.exe", Allowed: []string{".md", ".pdf"}},
		&SuffixNotAllowedError{Path: "portfolio/a.exe", Allowed: []string{}},
		&FileTooLargeError{Path: "portfolio/a.md", Size: 10000001, Limit: 10000000},
		&PermissionEscalationError{Asked: "readonly=False", Boundary: "parent sandbox is readonly"},
		&PermissionEscalationError{Asked: "allow_write='/docs'", Boundary: "the writable paths of the parent sandbox are /src", Alternatives: []string{"allow_write at or below /src", "readonly=True"}},
		&RequestError{Argument: "allow_read", Value: "../x", Problem: "'..' is not allowed"},
		&NetworkDeniedError{Host: "example.com:443", Mode: NetworkOff},
		&NetworkDeniedError{Mode: NetworkOff},
		&NetworkDeniedError{Host: "example.com:443", Mode: NetworkList, Allowed: []string{"*.example.org"}},
		&BackendUnavailableError{},
		&BackendUnavailableError{Backend: "bwrap", Needs: "user namespaces", Reason: "unshare: EPERM", Remedy: "sysctl ..."},
		&ConfigError{Message: "no such key"},
		&ConfigError{File: "sbx.yaml", Message: "empty"},
		&ConfigError{File: "sbx.yaml", Line: 3, Col: 7, Message: "unknown key x", Fix: "did you mean y?"},
		&LinkedRootError{Written: "./x", Link: "/p/x", Target: "/q"},
		&DuplicateRootError{Root: "/p", First: Mount{Name: "aa"}, Second: Mount{Name: "bb", Written: "./p"}},
	} {
		fmt.Fprintf(&b, "%T\n%s\n", err, err)
		if h, ok := err.(interface{ Hint() string }); ok && h.Hint() != "" {
			fmt.Fprintf(&b, "hint: %s\n", h.Hint())
		}
		b.WriteByte('\n')
	}
	golden(t, "errors.golden", b.String())
}

// The texts that the seeds of the design give word for word.
func TestErrorTextsOfTheDesign(t *testing.T) {
	assert.EqualError(t, &PathNotInSandboxError{Op: Read, Path: "/etc/passwd", Boundary: []string{"./portfolio", "./pipeline", "./framework"}},
		"Cannot read '/etc/passwd': path is outside sandbox.\nReadable paths: ./portfolio, ./pipeline, ./framework")
	assert.EqualError(t, &PathNotWritableError{Path: "x"}, "Cannot write to 'x': path is read-only.\nWritable paths: none")
	assert.EqualError(t, &SuffixNotAllowedError{Path: "x", Allowed: []string{".a", ".b"}}, "Cannot access 'x': suffix not allowed.\nAllowed suffixes: .a, .b")
	assert.EqualError(t, &FileTooLargeError{Path: "x", Size: 2, Limit: 1}, "Cannot read 'x': file too large (2 bytes).\nMaximum allowed: 1 bytes")
	assert.EqualError(t, &PermissionEscalationError{Asked: "readonly=False", Boundary: "parent sandbox is readonly"},
		"Cannot create child sandbox with readonly=False: parent sandbox is readonly. Child sandboxes may only restrict access.")
	assert.ErrorContains(t, &NetworkDeniedError{Host: "x"}, "Network access is disabled for this")
}
