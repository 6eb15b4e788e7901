package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recipe returns the first code block below a heading of docs/recipes.md.
func recipe(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/recipes.md")
	require.NoError(t, err)
	_, below, ok := strings.Cut(string(page), "\n## "+heading+"\n")
	require.True(t, ok, heading)
	block := regexp.MustCompile("(?s)```[a-z]+\n(.*?)```").FindStringSubmatch(below)
	require.NotNil(t, block)
	return block[1]
}

// withTools puts the built sbx on the PATH of a world, under its name.
func (w *world) withTools() {
	w.t.Helper()
	require.NoError(w.t, os.Mkdir(w.dir+"/tools", 0o755))
	content, err := os.ReadFile(binary)
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(w.dir+"/tools/sbx", content, 0o755))
	w.env = append(w.env, "PATH="+w.dir+"/tools:"+os.Getenv("PATH"))
}

// TestEveryRecipeIsTested keeps blocks off the page that no test knows.
func TestEveryRecipeIsTested(t *testing.T) {
	page, err := os.ReadFile("../../docs/recipes.md")
	require.NoError(t, err)
	assert.Equal(t, 5, strings.Count(string(page), "\n```")/2)
}

func TestRecipeShellToolInGo(t *testing.T) {
	repo, err := filepath.Abs("../..")
	require.NoError(t, err)
	w := newWorld(t)
	source := w.write("recipe/main.go", recipe(t, "A shell tool in Go"))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{repo + "/docs/shelltool/main.go": source}})
	require.NoError(t, err)
	build := exec.Command("go", "build", "-overlay", w.write("overlay.json", string(overlay)), "-o", w.dir+"/shelltool", "./docs/shelltool")
	build.Dir = repo
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOPROXY=off")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	got := w.outside(w.dir+"/shelltool", "echo written > file && cat file")
	assert.Equal(t, ended{0, "written\n", ""}, got)
	got = w.outside(w.dir+"/shelltool", "cat /etc/shadow; exit 3")
	assert.Equal(t, 3, got.code)
	assert.Contains(t, got.stdout, "Note: Cannot read '/etc/shadow': path is outside sandbox.\nReadable paths: .\n")
}

func TestRecipeShellToolInAnyLanguage(t *testing.T) {
	w := newWorld(t)
	w.withTools()
	tool := w.write("shelltool.py", recipe(t, "A shell tool in any language"))
	got := w.outside("/usr/bin/python3", tool, "echo written > file && cat file")
	assert.Equal(t, ended{0, "written\n", ""}, got)
	got = w.outside("/usr/bin/python3", tool, "cat /etc/shadow; exit 3")
	assert.Contains(t, got.stdout, "Note: Cannot read '/etc/shadow': path is outside sandbox.\nReadable paths: .\n")
	assert.Contains(t, got.stdout, "\nExit code: 3\n")
	got = w.outside("/usr/bin/python3", "-c", "import sys; sys.path.insert(0, '"+w.dir+"')\nimport shelltool\nprint(shelltool.output_bytes({'stdout': '\\ufffd', 'stdout_base64': '/w=='}), shelltool.output_bytes({'stdout': 'a'}))\nshelltool.shell('true', policy=['--ro', 'no/such'])")
	assert.Equal(t, "b'\\xff' b'a'\n", got.stdout)
	assert.Contains(t, got.stderr, "RuntimeError: ")
}

// tested is a project whose test tries to do more than it may.
func (w *world) tested() {
	w.t.Helper()
	w.withTools()
	w.write("secret", "secret")
	test := "test ! -e ../secret && test ! -w ../secret && echo tested > result\n"
	w.write("ws/Makefile", "test:\n\t@"+test)
	w.write("ws/check.sh", test)
}

// assertTested demands that the project's test ran, and inside.
func (w *world) assertTested(got ended) {
	w.t.Helper()
	assert.Zero(w.t, got.code, got.stdout+got.stderr)
	result, err := os.ReadFile(w.cwd + "/result")
	require.NoError(w.t, err, got.stdout+got.stderr)
	assert.Equal(w.t, "tested\n", string(result))
}

func TestRecipeGitHubActions(t *testing.T) {
	w := newWorld(t)
	w.tested()
	_, step, ok := strings.Cut(recipe(t, "A step of GitHub Actions"), "name: Test in a sandbox\n        run: |\n")
	require.True(t, ok)
	script := regexp.MustCompile("(?m)^          ").ReplaceAllString(step, "")
	w.assertTested(w.outside("bash", "-e", "-c", script))

	weaker := strings.ReplaceAll(script, "--backend bwrap", "--backend builtin")
	require.NoError(t, os.Remove(w.cwd+"/result"))
	got := w.outside("bash", "-e", "-c", weaker)
	assert.Equal(t, 125, got.code, "what is demanded and cannot be had must stop the step")
	assert.Contains(t, got.stderr, "process-list")
	assert.NoFileExists(t, w.cwd+"/result")
}

func TestRecipeGitLab(t *testing.T) {
	w := newWorld(t)
	w.tested()
	_, script, ok := strings.Cut(recipe(t, "A job of GitLab CI"), "  script:\n    - ")
	require.True(t, ok)
	// Names of files outside can be seen with the built-in backend, contents not.
	w.write("ws/Makefile", "test:\n\t@! cat ../secret 2>/dev/null && ! sh -c 'echo x > ../secret' 2>/dev/null && echo tested > result\n")
	w.assertTested(w.outside("bash", "-e", "-c", script))
}

func TestRecipeMakefile(t *testing.T) {
	w := newWorld(t)
	w.tested()
	w.write("ws/Makefile", recipe(t, "A Makefile target"))
	w.assertTested(w.outside("make", "--no-print-directory", "-s", "check"))
	got := w.outside("make", "--no-print-directory", "-s", "check", "SBX=")
	assert.NotZero(t, got.code, "without the sandbox the secret is there")
}
