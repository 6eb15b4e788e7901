package config

import (
	"os"
	"strings"
)

// markers are the files by which a directory shows what it is built with.
var markers = [...]struct{ file, preset string }{
	{".git", "git"},
	{"go.mod", "go"},
	{"package.json", "node"},
	{"pyproject.toml", "python"},
	{"requirements.txt", "python"},
	{"setup.py", "python"},
	{"Cargo.toml", "rust"},
}

// Starter returns the text of a first sbx.yaml for dir: the directory itself
// is writable, the tool chains that its files point to are readable, and
// everything else is closed. Such a file needs no trust.
func Starter(dir string) string {
	var found []string
	for _, p := range presets() {
		if usesPreset(dir, p.name) {
			found = append(found, p.name)
		}
	}
	presetLine := "# presets: [git]"
	if len(found) > 0 {
		presetLine = "presets: [" + strings.Join(found, ", ") + "]"
	}
	return strings.ReplaceAll(starter, "PRESETS", padded(presetLine))
}

// usesPreset looks for the markers by name alone. .git may be a file, in a
// worktree.
func usesPreset(dir, preset string) bool {
	for _, m := range markers {
		if m.preset != preset {
			continue
		}
		if _, err := os.Lstat(join(dir, m.file)); err == nil {
			return true
		}
	}
	return false
}

// padded keeps the comments of the text in one column.
func padded(s string) string { return s + strings.Repeat(" ", max(1, 36-len(s))) }

// starter is the text; PRESETS stands for the one line that depends on the
// directory.
const starter = `# What a command started with "sbx run" may read and change.
# "sbx policy show" draws the result, "sbx policy validate" checks this file.
version: 1
sandbox:
  root: .                             # this directory, writable
  # readonly: true                    # ... or not
  # paths:                            # instead of root: single directories, each with a name
  #   source: {root: ./src, mode: rw}
  #   manual: {root: ./doc}           # mode is ro unless it says rw
  deny: [".env"]                      # closed for good; a name without / counts at any depth
  PRESETS# read-only tool chains: git, go, node, python, rust
  network: false                      # true needs your approval once: sbx trust sbx.yaml
  # env: {pass: [CI]}                 # so do variables beyond the usual few
  # limits: {timeout: 10m, memory: 4GiB, processes: 512}
`
