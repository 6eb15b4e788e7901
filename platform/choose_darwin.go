package platform

import (
	"errors"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt"
)

// Choose returns the plan by which e is enforced here: Seatbelt, if a trial run
// under the very profile of e succeeds. Only a policy that waives the
// requirement gets less, and its plan says so.
func Choose(e policy.Effective, r Request) (Plan, error) {
	plan, err := choose(e, r)
	if err != nil {
		return Plan{}, err
	}
	return plan, demand(plan, r.Require)
}

func choose(e policy.Effective, r Request) (Plan, error) {
	switch r.Backend {
	case Seatbelt:
		return planSeatbelt(e)
	case Auto, "":
		plan, err := planSeatbelt(e)
		var unavailable *policy.BackendUnavailableError
		if err != nil && !e.RequireOS && errors.As(err, &unavailable) {
			return unconfined(e), nil
		}
		return plan, err
	case Bwrap, Builtin:
		return Plan{}, &policy.BackendUnavailableError{Backend: string(r.Backend), Reason: "it needs Linux", Remedy: "leave --backend out"}
	}
	return Plan{}, &policy.BackendUnavailableError{Backend: string(r.Backend), Reason: "no such backend", Remedy: "--backend auto or seatbelt"}
}

func planSeatbelt(e policy.Effective) (Plan, error) {
	e, err := e.Expand()
	if err != nil {
		return Plan{}, err
	}
	e = seatbelt.Respell(e, storedSpelling)
	plan := Plan{
		Backend: Seatbelt, Effective: e, Program: seatbelt.Executable,
		Machine: seatbelt.Run{DeveloperDir: developerDir()},
	}
	run := plan.Machine
	run.Private = trialDirs
	profile, err := seatbelt.Render(e, run)
	if err != nil {
		return Plan{}, err
	}
	if err := TrySeatbelt(profile, seatbelt.Shows(e, run, trialProgram)); err != nil {
		return Plan{}, err
	}
	plan.Partial = profile.Partial
	return plan, nil
}

func unconfined(e policy.Effective) Plan { return Plan{Backend: None, Effective: e} }
