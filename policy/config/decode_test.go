package config_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

const corpus = "../../testdata/policies"

// kindOf tells the role of a corpus file by its name.
func kindOf(file string) config.Kind {
	switch name, _, _ := strings.Cut(filepath.Base(file), "-"); strings.TrimSuffix(name, ".yaml") {
	case "user":
		return config.User
	case "program":
		return config.Program
	}
	return config.Project
}

// corpusFiles returns the files of valid or invalid with their text.
func corpusFiles(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(corpus, dir, "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	texts := make(map[string][]byte, len(files))
	for _, f := range files {
		texts[f], err = os.ReadFile(f)
		require.NoError(t, err)
	}
	return texts
}

func TestDecodeOfValidFiles(t *testing.T) {
	for file, text := range corpusFiles(t, "valid") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c, faults := config.Decode(text, kindOf(file))
			assert.Empty(t, faults)
			assert.NotNil(t, c)
		})
	}
}

// Every invalid file begins with all that is to be said about it, in order.
func TestDecodeOfInvalidFiles(t *testing.T) {
	for file, text := range corpusFiles(t, "invalid") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c, faults := config.Decode(text, kindOf(file))
			assert.Nil(t, c)
			assert.Equal(t, wanted(text), said(faults))
		})
	}
}

func wanted(text []byte) []string {
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "# want: ") || strings.HasPrefix(line, "# hint: ") {
			lines = append(lines, strings.TrimSpace(line[2:]))
		}
	}
	return lines
}

func said(faults []*policy.ConfigError) []string {
	var lines []string
	for _, f := range faults {
		lines = append(lines, fmt.Sprintf("want: %d:%d: %s", f.Line, f.Col, f.Message))
		if f.Fix != "" {
			lines = append(lines, "hint: "+f.Fix)
		}
	}
	return lines
}

// What a corpus file cannot hold, or only badly.
func TestDecodeOfExtremes(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want string // "" is valid
	}{
		"1 MiB":                {text: "#" + strings.Repeat("x", 1<<20-1)},
		"more than 1 MiB":      {text: "#" + strings.Repeat("x", 1<<20), want: "1:1: larger than 1 MiB"},
		"100 levels of others": {text: "x: " + strings.Repeat("[", 99) + strings.Repeat("]", 99), want: "1:1: unknown key \"x\""},
		"101 levels":           {text: "x: " + strings.Repeat("[", 100) + strings.Repeat("]", 100), want: "1:103: more than 100 levels deep"},
		"NUL":                  {text: "a\x00", want: "1:2: a control character (U+0000)"},
		"BOM alone":            {text: "\ufeff"},
		"second BOM":           {text: "\ufeff# \ufeff", want: "1:3: a byte order mark inside the text"},
		"lone CR":              {text: "version: 1\rsandbox: {root: ., x: 1}\r", want: "2:20: unknown key \"x\""},
		"CRLF columns":         {text: "version: 1\r\nsandbox: {root: ., x: 1}\r\n", want: "2:20: unknown key \"x\""},
		"columns in characters": {
			text: "sandbox: {root: ./äöü, x: 1}", want: "1:24: unknown key \"x\"",
		},
		"UTF-16": {text: "\xff\xfes\x00", want: "1:1: not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			c, faults := config.Decode([]byte(tt.text), config.Project)
			if tt.want == "" {
				assert.Empty(t, faults)
				assert.NotNil(t, c)
				return
			}
			require.NotEmpty(t, faults)
			assert.Equal(t, "want: "+tt.want, said(faults)[0])
		})
	}
}

func TestDecodeReportsAtMostFifty(t *testing.T) {
	_, faults := config.Decode([]byte(strings.Repeat("- x\n", 3)+""), config.Project)
	require.Len(t, faults, 1)
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "key%d: 1\n", i)
	}
	_, faults = config.Decode([]byte(text.String()), config.Project)
	require.Len(t, faults, 51)
	assert.Equal(t, "950 more faults from here on", faults[50].Message)
	assert.Equal(t, 51, faults[50].Line)
}

func TestDecodeKeepsValuesAndPlaces(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpus, "valid/mount-all-keys.yaml"))
	require.NoError(t, err)
	c, faults := config.Decode(text, config.Project)
	require.Empty(t, faults)
	m := c.Sandbox.Paths[0]
	assert.Equal(t, "data.set-1_a", m.Name)
	assert.Equal(t, config.Pos{Line: 3, Col: 5}, m.Pos)
	assert.Equal(t, config.Value[string]{V: "./with space/and 'quote'", Pos: config.Pos{Line: 4, Col: 13}}, m.Root)
	assert.Equal(t, policy.ReadAndWrite, m.Mode.V)
	assert.Equal(t, ".csv", m.Suffixes[0].V)
	assert.Equal(t, int64(10_000_000), m.MaxFileBytes.V)
	assert.True(t, m.ReadApproval.V)
	assert.False(t, m.WriteApproval.Or(true))
	assert.True(t, c.Sandbox.Paths[1].WriteApproval.Or(true), "not given")

	text, err = os.ReadFile(filepath.Join(corpus, "valid/limits.yaml"))
	require.NoError(t, err)
	c, faults = config.Decode(text, config.Project)
	require.Empty(t, faults)
	assert.Equal(t, policy.Limits{
		Timeout: 90 * time.Minute, CPU: 90 * time.Second, Memory: 1 << 30, Processes: 256, OpenFiles: 1024,
		FileSize: 500_000_000, Output: 50_000, Tmp: 262144, Strict: true,
	}, c.Sandbox.Limits.Limits)

	text, err = os.ReadFile(filepath.Join(corpus, "valid/workers.yaml"))
	require.NoError(t, err)
	c, faults = config.Decode(text, config.Project)
	require.Empty(t, faults)
	require.Len(t, c.Workers.List, 5)
	assert.Equal(t, "/src", c.Workers.List[0].Restrict.V)
	assert.Nil(t, c.Workers.List[0].AllowRead, "unset")
	require.NotNil(t, c.Workers.List[4].AllowRead, "an empty list is a list")
	assert.Empty(t, c.Workers.List[4].AllowRead.Items)
	assert.Equal(t, int64(10), c.Attachments.MaxCount.V)
}

// A file that grows by some factor takes longer by little more than that.
func TestDecodeOfHostileFilesIsQuick(t *testing.T) {
	const size = 1 << 20
	for name, text := range map[string]string{
		"open brackets": strings.Repeat("[", size),
		"open braces":   strings.Repeat("{", size),
		"nested lists":  strings.Repeat("- ", size/2),
		"nested keys":   strings.Repeat("? ", size/2),
		"colons":        strings.Repeat("a: ", size/3),
		"comments":      strings.Repeat("#\n", size/2),
		"one long line": "{" + strings.Repeat("a: b, ", size/6-1) + "}",
		"list comments": strings.Repeat("- a # x\n# y\n", size/12),
		"anchors":       strings.Repeat("- &a x\n", size/7),
		"open quote":    `"` + strings.Repeat("a", size-1),
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := config.Decode([]byte(text), config.Project)
			if name != "comments" {
				assert.NotEmpty(t, faults)
			}
		})
	}
}

// A fault says what to write in the words of the file, not of a program.
func FuzzDecode(f *testing.F) {
	for _, dir := range []string{"valid", "invalid"} {
		for file, text := range corpusFiles(f, dir) {
			f.Add(text, uint8(kindOf(file)))
		}
	}
	for _, text := range []string{
		`sandbox: {paths: {"a\e": "b\e", "c\n": {d: 1}, "e\r": {}}}`, `sandbox: {root: "~\e/x", readonly: "\n"}`,
		`sandbox: {root: {path: ., suffixes: ["x\e"]}}`, `workers: {"a\n": {restrict: "~\n"}, "b\e": 1}`,
		`sandbox: {root: ., network: {allow: ["\e://a"]}, env: {pass: ["\n"], set: {"\e": x, A: [1]}}}`,
	} {
		f.Add([]byte(text), uint8(config.Project))
	}
	f.Fuzz(func(t *testing.T, text []byte, kind uint8) {
		c, faults := config.Decode(text, config.Kind(kind%3))
		if (c == nil) != (len(faults) > 0) {
			t.Fatalf("config %v and faults %v", c, faults)
		}
		lines := bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + 1
		for _, fault := range faults {
			switch {
			case fault.Line < 1 || fault.Col < 1 || fault.Line > lines:
				t.Fatalf("fault at %d:%d of %d lines: %s", fault.Line, fault.Col, lines, fault.Message)
			case fault.Message == "" || strings.ContainsAny(fault.Message+fault.Fix, "\n\r\x1b\x00"):
				t.Fatalf("message %q hint %q", fault.Message, fault.Fix)
			case strings.Contains(fault.Message, "yaml:") || strings.Contains(fault.Message, "config."):
				t.Fatalf("message names the program: %q", fault.Message)
			}
		}
	})
}
