package stub

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/platform/script"
	"github.com/sbx-run/sbx/platform/seccomp"
)

// Spec is everything that the stub does.
type Spec struct {
	Mounts   []Check
	Held     bool   // nothing is done before the launcher lets the stub go
	Dir      string // working directory of the command
	Argv     []string
	Env      []string
	Path     []string // directories in which Argv[0] is looked up when it has no slash
	Stderr   int      // descriptor that becomes 2; 0 leaves it
	Limits   []Rlimit
	Filter   seccomp.Config   // the system call filter; always installed
	Landlock landlock.Ruleset // the zero value is none
}

// Orders is a spec as the stub carries it out.
type Orders struct {
	script *script.Script
}

// Compile writes the orders for a spec. It has to run on the machine, and under
// the system call filters, that the stub will run under. An error is a *[Failure].
func Compile(spec Spec) (Orders, error) {
	if err := spec.whole(); err != nil {
		return Orders{}, err
	}
	filter, err := seccomp.Compile(spec.Filter)
	if err != nil {
		return Orders{}, &Failure{Stage: StageSeccomp, Text: err.Error()}
	}
	layer, err := layerOf(spec.Landlock)
	if err != nil {
		return Orders{}, &Failure{Stage: StageLandlock, Text: err.Error()}
	}
	w := writer{script.New()}
	if spec.Held {
		w.wait()
	}
	w.mounts(spec.Mounts)
	w.directory(spec.Dir)
	w.descriptors(spec.Stderr)
	w.lookup(spec.Argv[0], spec.Path)
	w.signals()
	w.privileges()
	if layer.Any() {
		layer.Write(w.Script)
	}
	if !spec.Held {
		w.wait()
	}
	w.ready()
	filter.Write(w.Script)
	w.limits(spec.Limits) // late, because the stub itself might not live within them
	w.exec(spec.Argv, spec.Env)
	return Orders{w.Script}, nil
}

// whole refuses a text with a NUL in it, where the kernel would take it to end.
func (s Spec) whole() error {
	texts := slices.Concat([]string{s.Dir}, s.Argv, s.Env, s.Path)
	for _, m := range s.Mounts {
		texts = append(texts, m.Path)
	}
	for _, t := range texts {
		if strings.Contains(t, "\x00") {
			return &Failure{Stage: StageExec, Errno: int(unix.EINVAL), Text: "a NUL in an argument, a variable or a path"}
		}
	}
	return nil
}

// layerOf is the ruleset as far as this kernel has it: what it lacks was
// reported when the run was planned.
func layerOf(ruleset landlock.Ruleset) (landlock.Enforced, error) {
	if !ruleset.Files && ruleset.Scope == 0 {
		return landlock.Enforced{}, nil
	}
	abi, err := landlock.ABI()
	if err != nil {
		return landlock.Enforced{}, err
	}
	enforced, _, err := landlock.Plan(abi, ruleset)
	return enforced, err
}

// Image is what the stub reads.
func (o Orders) Image() []byte { return o.script.Image() }

// writer adds the stub's own steps to a script.
type writer struct{ *script.Script }

func (w writer) stage(s Stage, path string) {
	w.For(script.Note{Stage: string(s), Path: path})
}
