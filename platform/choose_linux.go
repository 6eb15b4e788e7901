package platform

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/policy"
)

// Choose returns the plan by which e is enforced here: bubblewrap if it
// works, else the built-in backend if that can express the policy, else an
// error that says why neither does and what would change that. Only a policy
// that waives the requirement gets less, down to nothing, and its plan says
// so.
func Choose(e policy.Effective, r Request) (Plan, error) {
	plan, err := choose(e, r)
	if err != nil {
		return Plan{}, err
	}
	return plan, demand(plan, r.Require)
}

func choose(e policy.Effective, r Request) (Plan, error) {
	abi, _ := landlock.ABI() // 0 without Landlock; the gaps then say so
	switch r.Backend {
	case Bwrap:
		return planBwrap(e, r, abi)
	case Builtin:
		return planBuiltin(e, abi)
	case Auto, "":
		return chooseAuto(e, r, abi)
	case Seatbelt:
		return Plan{}, &policy.BackendUnavailableError{Backend: string(Seatbelt), Reason: "it is part of macOS", Remedy: "leave --backend out"}
	}
	return Plan{}, &policy.BackendUnavailableError{Backend: string(r.Backend), Reason: "no such backend", Remedy: "--backend auto, bwrap or builtin"}
}

func chooseAuto(e policy.Effective, r Request, abi int) (Plan, error) {
	plan, bwrapErr := planBwrap(e, r, abi)
	if bwrapErr == nil {
		return plan, nil
	}
	plan, builtinErr := planBuiltin(e, abi)
	if builtinErr == nil {
		return plan, nil
	}
	if !e.RequireOS {
		return unconfined(e), nil
	}
	return Plan{}, both(bwrapErr, builtinErr)
}

// both words the refusal where no backend would do: the reason of each, and
// the remedy of the stronger one.
func both(bwrapErr, builtinErr error) error {
	joined := &policy.BackendUnavailableError{Reason: bwrapErr.Error() + "; " + builtinErr.Error()}
	var unavailable *policy.BackendUnavailableError
	if errors.As(bwrapErr, &unavailable) {
		joined.Remedy = unavailable.Remedy
	}
	if errors.As(builtinErr, &unavailable) && joined.Remedy != "" {
		if other, ok := strings.CutPrefix(unavailable.Remedy, orBubblewrap); ok {
			joined.Remedy += "; or " + other
		}
	}
	return joined
}

// orBubblewrap begins the remedies of the built-in backend.
const orBubblewrap = "make bubblewrap work (sbx doctor), or "

func planBwrap(e policy.Effective, r Request, abi int) (Plan, error) {
	layout, err := layoutHere(e, r)
	if err != nil {
		return Plan{}, err
	}
	if len(layout.WriteOnly) > 0 && abi == 0 {
		return Plan{}, &policy.BackendUnavailableError{Backend: string(Bwrap),
			Needs:  fmt.Sprintf("%s is writable but not readable, which only Landlock can enforce", layout.WriteOnly[0]),
			Remedy: "a kernel with Landlock (Linux 5.13)"}
	}
	program, reasons := findBwrap(r.Path, e.Places.Cwd)
	if program == "" {
		return Plan{}, missing(reasons).unavailable()
	}
	probe := cachedProbe(program, r.CacheDir)
	if !probe.Works {
		return Plan{}, diagnose(probe).unavailable()
	}
	plan := Plan{Backend: Bwrap, Effective: e, Program: program, Features: probe.Features, Layout: layout}
	if err := refuseLoose(plan); err != nil {
		return Plan{}, err
	}
	return layered(plan, layerRuleset(e, layout), abi)
}

// layoutHere is the layout of e without what this machine lacks: the key lists
// of a kernel without keys, and pinned links where nobody can make them.
func layoutHere(e policy.Effective, r Request) (bwrap.Layout, error) {
	layout, err := bwrap.NewLayout(e)
	if err != nil {
		return bwrap.Layout{}, err
	}
	layout = layout.Without(func(m bwrap.Mount) bool {
		if !slices.Contains(bwrap.KeyLists, m.Path) || m.Op != bwrap.MaskFile {
			return false
		}
		_, err := os.Lstat(m.Path)
		return err != nil
	})
	if layout.PinsLinks() && (r.PinsLinks == nil || !bwrap.NewStage(layout).HoldsLinks(layout) || !r.PinsLinks(layout)) {
		layout = layout.Without(func(m bwrap.Mount) bool { return m.Op == bwrap.PinLink })
	}
	return layout, nil
}

func planBuiltin(e policy.Effective, abi int) (Plan, error) {
	if abi == 0 {
		return Plan{}, &policy.BackendUnavailableError{Backend: string(Builtin), Reason: "this kernel has no Landlock", Remedy: "Linux 5.13 or later with landlock in the lsm= list"}
	}
	ruleset, inexpressible := builtinRuleset(e, abi)
	if e.Network.Mode == policy.NetworkList {
		inexpressible = append(inexpressible, "an allow-list of hosts")
	}
	remedy := "drop these rules"
	if files := changeable(e); len(files) > 0 {
		inexpressible = append(inexpressible, "a command could change "+named(files)+", which decides about later runs and lies in a writable directory")
		move := "move the policy file out of what it makes writable, or grant the directories beside it; require_os_sandbox: false does without"
		if len(inexpressible) > 1 {
			move = remedy + ", and " + move
		}
		remedy = move
	}
	plan, err := layered(Plan{Backend: Builtin, Effective: e}, ruleset, abi)
	if err != nil || !e.RequireOS {
		return plan, err
	}
	if err := refuseStrict(e, Builtin); err != nil {
		return Plan{}, err
	}
	if len(inexpressible) > 0 {
		return Plan{}, &policy.BackendUnavailableError{Backend: string(Builtin), Needs: strings.Join(inexpressible, "; "), Remedy: orBubblewrap + remedy}
	}
	for _, g := range plan.Guarantees() {
		if g.Name == GuaranteeFiles && !g.Held {
			return Plan{}, &policy.BackendUnavailableError{Backend: string(Builtin), Needs: "guarantee " + g.Name, Reason: g.Detail, Remedy: "Linux 6.2 or later"}
		}
	}
	return plan, nil
}

// layered adds the Landlock ruleset, as far as this kernel has it.
func layered(plan Plan, ruleset landlock.Ruleset, abi int) (Plan, error) {
	_, gaps, err := landlock.Plan(abi, ruleset)
	if err != nil {
		return Plan{}, err
	}
	if abi > 0 {
		plan.Landlock = ruleset
	}
	plan.gaps = gaps
	return plan, nil
}

func unconfined(e policy.Effective) Plan { return Plan{Backend: None, Effective: e} }
