package main_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateDocs = flag.Bool("update-docs", false, "write the output of the commands into the documentation")

// TestProgramsPage runs docs/programs.md: blocks with a file name are written,
// the commands of console blocks are run in order, and what follows them is
// their output, stderr after stdout.
func TestProgramsPage(t *testing.T) {
	const page = "../../docs/programs.md"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	w := newWorld(t)
	w.write("ws/src/main.c", "int main(void) { return 0; }\n")
	w.write("ws/doc/manual.md", "the manual\n")
	now := runPage(t, w, string(text))
	if *updateDocs {
		require.NoError(t, os.WriteFile(page, []byte(now), 0o644))
		return
	}
	assert.Equal(t, string(text), now)
}

// runPage returns the page with the output that its commands have now.
func runPage(t *testing.T, w *world, page string) string {
	t.Helper()
	var out []string
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		info, begins := strings.CutPrefix(lines[i], "```")
		if !begins {
			continue
		}
		var block []string
		for i++; i < len(lines) && lines[i] != "```"; i++ {
			block = append(block, lines[i])
		}
		if _, name, isFile := strings.Cut(info, " "); isFile {
			w.write(filepath.Join("ws", name), strings.Join(block, "\n")+"\n")
		} else if info == "console" {
			block = runConsole(w, block)
		}
		out = append(append(out, block...), "```")
	}
	return strings.Join(out, "\n")
}

// runConsole keeps the commands of a block and replaces what they said.
func runConsole(w *world, block []string) []string {
	var out []string
	for _, line := range block {
		command, isCommand := strings.CutPrefix(line, "$ ")
		if !isCommand {
			continue
		}
		out = append(out, line)
		cmd := exec.Command("sh", "-c", command)
		w.place(cmd)
		cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
		got := w.finish(cmd)
		said := strings.ReplaceAll(got.stdout+got.stderr, w.dir, "$DIR")
		if said = strings.TrimSuffix(said, "\n"); said != "" {
			out = append(out, strings.Split(said, "\n")...)
		}
	}
	return out
}
