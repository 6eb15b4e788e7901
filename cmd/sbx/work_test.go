package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRepositoryBuildsInItsOwnSandbox is the first promise of the README.
func TestRepositoryBuildsInItsOwnSandbox(t *testing.T) {
	repo, err := filepath.Abs("../..")
	require.NoError(t, err)
	cmd := exec.Command(binary, "run", "--rw", ".", "--preset", "go", "--", "go", "build", "./...")
	cmd.Dir = repo
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestEverydayCommands runs what people run, each with a policy that they
// would write.
func TestEverydayCommands(t *testing.T) {
	w := newWorld(t)
	w.write("ws/data.txt", "b\na\nb\n")
	w.write("ws/script.py", "import json, pathlib\npathlib.Path('out.json').write_text(json.dumps({'lines': len(open('data.txt').readlines())}))\nprint('python ok')\n")
	w.write("ws/script.js", "const fs = require('fs');\nconsole.log('node ok', fs.readFileSync('data.txt', 'utf8').length);\n")
	for _, argv := range [][]string{
		{"git", "init", "-q"},
		{"git", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		got := w.outside(argv...)
		require.Zero(t, got.code, got.stderr)
	}
	for _, row := range []struct {
		name   string
		args   []string
		stdout string
	}{
		{"git status", []string{"run", "--ro", ".", "--preset", "git", "--", "git", "status", "--short"}, "?? data.txt\n"},
		{"python3", []string{"run", "--rw", ".", "--preset", "python", "--", "/usr/bin/python3", "script.py"}, "python ok\n"},
		{"node", []string{"run", "--ro", ".", "--preset", "node", "--", "node", "script.js"}, "node ok 6\n"},
		{"a pipeline", []string{"run", "--ro", ".", "-c", "sort data.txt | uniq -c | awk '{print $2 $1}' | tr '\\n' ' '"}, "a1 b2 "},
		{"an here-document", []string{"run", "-c", "cat <<X\nhere\nX"}, "here\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := w.sbx(row.args...)
			assert.Zero(t, got.code, got.stderr)
			assert.Contains(t, got.stdout, row.stdout)
		})
	}
	written, err := os.ReadFile(w.cwd + "/out.json")
	require.NoError(t, err)
	assert.JSONEq(t, `{"lines": 3}`, string(written))
}
