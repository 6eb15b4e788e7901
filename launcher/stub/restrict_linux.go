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
		return fail(StageSeccomp, nil, err)
	}
	return fail(StageSeccomp, nil, seccomp.Install(program))
}

// restrict puts the Landlock ruleset up, as far as this kernel has it: what
// it lacks was reported when the run was planned.
func restrict(l *Landlock) error {
	if l == nil {
		return nil
	}
	ruleset := landlock.Ruleset{Files: l.Files, Scope: l.Scope}
	for _, g := range l.Grants {
		ruleset.Grants = append(ruleset.Grants, landlock.Grant{Path: string(g.Path), FD: g.FD, Access: g.Access})
	}
	abi, err := landlock.ABI()
	if err != nil {
		return fail(StageLandlock, nil, err)
	}
	enforced, _, err := landlock.Plan(abi, ruleset)
	if err != nil || !enforced.Any() {
		return fail(StageLandlock, nil, err)
	}
	return fail(StageLandlock, nil, landlock.Apply(enforced))
}
