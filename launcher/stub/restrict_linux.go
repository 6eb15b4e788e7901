package stub

import (
	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/platform/seccomp"
)

// filter puts the system call filter up. Compiling takes microseconds, so the
// rules travel, not the program.
func filter(c seccomp.Config) error {
	program, err := seccomp.Compile(c)
	if err != nil {
		return fail(StageSeccomp, "", err)
	}
	return fail(StageSeccomp, "", seccomp.Install(program))
}

// restrict puts the Landlock ruleset up, as far as this kernel has it: what
// it lacks was reported when the run was planned.
func restrict(ruleset landlock.Ruleset) error {
	if !ruleset.Files && ruleset.Scope == 0 {
		return nil
	}
	abi, err := landlock.ABI()
	if err != nil {
		return fail(StageLandlock, "", err)
	}
	enforced, _, err := landlock.Plan(abi, ruleset)
	if err != nil || !enforced.Any() {
		return fail(StageLandlock, "", err)
	}
	return fail(StageLandlock, "", landlock.Apply(enforced))
}
