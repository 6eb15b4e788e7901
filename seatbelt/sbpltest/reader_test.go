package sbpltest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStringRules(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, source, want string
	}{
		{"plain", `"/a b/c"`, "/a b/c"},
		{"named escapes", `"\n\t\r\"\\"`, "\n\t\r\"\\"},
		{"hexadecimal", `"\x41\xC3\xa9"`, "A\u00e9"},
		{"hexadecimal, capital", `"\X41"`, "A"},
		{"octal, three digits", `"\1011"`, "A1"},
		{"octal, one digit", `"\1z"`, "\x01z"},
		{"unicode escape of JSON is no escape", `"\u0041"`, "u0041"},
		{"backspace of JSON is the letter", `"\b\f\v\a"`, "bfva"},
		{"slash", `"\/a"`, "/a"},
		{"line feed stays", "\"a\nb\"", "a\nb"},
		{"escaped line feed stays", "\"a\\\nb\"", "a\nb"},
		{"comment sign", `"a;b"`, "a;b"},
		{"parentheses", `"(a)"`, "(a)"},
		{"bytes that are no UTF-8", "\"\xff\xfe\"", "\xff\xfe"},
		{"raw", `#"a\b"`, `a\b`},
		{"empty", `""`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			forms, err := Read(tc.source)
			require.NoError(t, err)
			require.Len(t, forms, 1)
			assert.Equal(t, Text, forms[0].Kind)
			assert.Equal(t, tc.want, forms[0].Atom)
		})
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, source, want string
		line               int
	}{
		{"open list", "(a\n(b", "list is not closed", 2},
		{"close without open", "\n)", "unexpected )", 2},
		{"open string", `"abc`, "string is not closed", 1},
		{"open string, escape last", `"abc\`, "string is not closed", 1},
		{"open raw string", `#"abc`, "raw string is not closed", 1},
		{"hexadecimal digit", `"\xg1"`, "Error reading string", 1},
		{"hexadecimal at the end", `"\x4`, "Error reading string", 1},
		{"octal too large", `"\777"`, "Error reading string", 1},
		{"literal too long", `"` + strings.Repeat("a", 1026) + `"`, "Error reading string", 1},
		{"NUL", "(version 1)\n\x00", "NUL", 2},
		{"quote", "'a", "outside the subset", 1},
		{"vector", "#(a)", "outside the subset", 1},
		{"pair", "(a . b)", "outside the subset", 1},
		{"nesting", strings.Repeat("(", 100), "nested deeper", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := Read(tc.source)
			require.ErrorContains(t, err, tc.want)
			var syntax *SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Equal(t, tc.line, syntax.Line)
		})
	}
}

func TestReadForms(t *testing.T) {
	t.Parallel()
	forms, err := Read("#!/usr/bin/sandbox-exec -f\n(version 1) ; one\n(allow file-read* ; two\n (literal \"/\"))\n#t 42")
	require.NoError(t, err)
	require.Len(t, forms, 4)
	assert.Equal(t, "version", forms[0].Head())
	assert.Equal(t, 2, forms[0].Line)
	assert.Equal(t, len("(version 1)"), forms[0].Bytes)
	assert.Equal(t, "literal", forms[1].Items[2].Head())
	assert.Equal(t, 4, forms[1].Items[2].Line)
	assert.Equal(t, Bool, forms[2].Kind)
	assert.Equal(t, Number, forms[3].Kind)

	long, err := Read(`"` + strings.Repeat("a", 1025) + `"`)
	require.NoError(t, err, "1025 bytes are the limit, not above it")
	assert.Len(t, long[0].Atom, 1025)
}

// FuzzRead: whatever the text, reading ends, and what was read is well formed.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"(version 1)(deny default)", `(allow file-read* (literal "/a\"b\\"))`, `#"raw"`,
		"; comment", `"\x41\101"`, "((((", "#!x\n()", "\"\\", "#", ".",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		forms, err := Read(source)
		if err != nil {
			require.Nil(t, forms)
			return
		}
		for _, n := range forms {
			checkNode(t, n, len(source))
		}
	})
}

func checkNode(t *testing.T, n Node, limit int) {
	require.LessOrEqual(t, n.Bytes, limit)
	require.Positive(t, n.Bytes)
	require.Positive(t, n.Line)
	if n.Kind == Text {
		require.LessOrEqual(t, len(n.Atom), MaxLiteral)
	}
	for _, item := range n.Items {
		checkNode(t, item, n.Bytes)
	}
}
