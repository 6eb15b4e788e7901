package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy/config"
)

func TestDecodeWorker(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want string // first fault; "" is valid
	}{
		"seed":              {text: "---\nname: a\ninstructions: |\n  Read /src.\nsandbox:\n  restrict: \"/src\"\n  readonly: true\n---\n"},
		"no sandbox":        {text: "---\nname: a\n# none\n---\n"},
		"empty":             {text: "---\n---\n"},
		"body after it":     {text: "---\nsandbox: {readonly: true}\n---\n\tanything: [\n"},
		"marks with blanks": {text: "---  \nsandbox: {readonly: true}\n--- \n"},
		"CRLF":              {text: "---\r\nsandbox: {readonly: true}\r\n---\r\nx"},
		"BOM":               {text: "\ufeff---\nsandbox: {readonly: true}\n---\n"},
		"keys of its owner": {text: "---\nmodel: &m x\nuses: *m\nodd: !t {yes: ~}\nsandbox: {readonly: true}\n---\n"},
		"old style":         {text: "---\nsandbox: {paths: {aa: {root: .}}}\n---\n"},
		"old style, root":   {text: "---\nsandbox: {root: .}\n---\n"},

		"nothing":         {text: "", want: "want: 1:1: a worker file without front matter"},
		"no marks":        {text: "sandbox: {readonly: true}\n", want: "want: 1:1: a worker file without front matter"},
		"no end":          {text: "---\nname: a\n", want: "want: 2:1: the front matter has no end"},
		"empty block":     {text: "---\nsandbox: {}\n---\n", want: "want: 2:10: the sandbox block is empty"},
		"null":            {text: "---\nsandbox:\n---\n", want: "want: 2:9: sandbox has no value: want a table of keys"},
		"unknown key":     {text: "---\nname: a\nsandbox:\n  restrct: /a\n---\n", want: "want: 4:3: unknown key \"restrct\""},
		"wrong type":      {text: "---\nsandbox:\n  readonly: yes\n---\n", want: "want: 3:13: readonly: want true or false, got \"yes\""},
		"contradiction":   {text: "---\nsandbox: {restrict: /a, inherit: false}\n---\n", want: "want: 2:34: restrict keeps what inherit: false drops"},
		"old and new":     {text: "---\nsandbox: {root: ., restrict: /a}\n---\n", want: "want: 2:20: unknown key \"restrict\""},
		"merge key":       {text: "---\nx: &x {sandbox: {inherit: true}}\n<<: *x\n---\n", want: "want: 3:1: key: a merge key is not allowed"},
		"twice":           {text: "---\nsandbox: {readonly: true}\nsandbox: {inherit: true}\n---\n", want: "want: 3:1: key \"sandbox\" stands twice, first in line 2"},
		"a list":          {text: "---\n- a\n---\n", want: "want: 2:1: the front matter: want a table of keys, got a list"},
		"control in it":   {text: "---\nname: \x01\n---\n", want: "want: 2:7: a control character (U+0001)"},
		"more than 1 MiB": {text: "---\n---\n" + strings.Repeat("x", 1<<20), want: "want: 1:1: larger than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			w, faults := config.DecodeWorker([]byte(tt.text))
			if tt.want == "" {
				require.Empty(t, faults)
				assert.NotNil(t, w)
				return
			}
			assert.Nil(t, w)
			require.NotEmpty(t, faults)
			assert.Equal(t, tt.want, said(faults)[0])
		})
	}
}

func FuzzDecodeWorker(f *testing.F) {
	for _, text := range []string{"---\nsandbox: {restrict: /a}\n---\nbody", "---\nsandbox: {paths: {aa: {root: .}}}\n---", "---\n", "", "---\n<<: *a\n---\n", "---\r\nname: x\r---\r"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w, faults := config.DecodeWorker(text)
		if (w == nil) != (len(faults) > 0) {
			t.Fatalf("file %v and faults %v", w, faults)
		}
		for _, fault := range faults {
			if fault.Line < 1 || fault.Col < 1 || strings.ContainsAny(fault.Message+fault.Fix, "\n\r\x1b\x00") {
				t.Fatalf("%d:%d: %q %q", fault.Line, fault.Col, fault.Message, fault.Fix)
			}
		}
	})
}
