package platform

import (
	"fmt"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/policy"
)

// Request is what the caller wants of Choose.
type Request struct {
	Backend  Backend  // Auto or the one to use
	Require  []string // guarantees without which the command must not start
	Path     string   // the caller's PATH, for programs that no system directory has
	CacheDir string   // where probes are remembered; empty for nowhere
}

// Choose returns the plan by which e is enforced here: bubblewrap if it
// works, else an error that says why it does not and what would change that.
func Choose(e policy.Effective, r Request) (Plan, error) {
	switch r.Backend {
	case Auto, Bwrap, "":
		return planBwrap(e, r)
	case Seatbelt:
		return Plan{}, &policy.BackendUnavailableError{Backend: string(Seatbelt), Reason: "it is part of macOS", Remedy: "leave --backend out"}
	}
	return Plan{}, &policy.BackendUnavailableError{Backend: string(r.Backend), Reason: "no such backend", Remedy: "--backend bwrap, builtin or auto"}
}

func planBwrap(e policy.Effective, r Request) (Plan, error) {
	layout, err := bwrap.NewLayout(e)
	if err != nil {
		return Plan{}, err
	}
	if len(layout.WriteOnly) > 0 {
		return Plan{}, &policy.BackendUnavailableError{Backend: string(Bwrap),
			Needs: fmt.Sprintf("%s is writable but not readable, which mounts cannot express", layout.WriteOnly[0])}
	}
	program, reasons := findBwrap(r.Path, e.Places.Cwd)
	if program == "" {
		return Plan{}, missing(reasons).unavailable()
	}
	probe := cachedProbe(program, r.CacheDir)
	if !probe.Works {
		return Plan{}, diagnose(probe).unavailable()
	}
	return Plan{Backend: Bwrap, Effective: e, Program: program, Features: probe.Features, Layout: layout}, nil
}
