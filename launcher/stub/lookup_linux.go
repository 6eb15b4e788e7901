package stub

import (
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/script"
)

// lookup finds the program as execvp(3) does, in the sandbox's own view, and
// leaves its path in the register Subject. The first executable match counts;
// if there are only others, the refusal of the first of them is reported.
func (w writer) lookup(name string, dirs []string) {
	stat := w.Stat()
	if strings.Contains(name, "/") {
		w.probe(stat, name)
		return
	}
	found := w.Label()
	for _, dir := range dirs {
		next := w.Label()
		for _, step := range w.probe(stat, strings.TrimSuffix(dir, "/")+"/"+name) {
			step.Else(next).Remember()
		}
		w.Jump(found)
		w.Place(next)
	}
	w.For(script.Note{Stage: string(StageLookup), Path: name, Text: "command not found"})
	w.Fail(int(unix.ENOENT)).Remember()
	w.Place(found)
}

// probe returns the steps that fail if a file cannot be executed.
func (w writer) probe(stat script.Stat, p string) []script.Step {
	w.stage(StageLookup, p)
	w.Set(script.Subject, w.Text(p))
	return []script.Step{
		stat.Path(p),
		w.Refuse(stat.Mode(), unix.S_IFMT, unix.S_IFDIR, int(unix.EISDIR)),
		w.Call(unix.SYS_FACCESSAT, script.Number(unix.AT_FDCWD), w.Text(p), script.Number(unix.X_OK)),
	}
}
