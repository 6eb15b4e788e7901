package stub

import (
	"errors"

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

func restrict(l *Landlock) error {
	if l == nil {
		return nil
	}
	return fail(StageLandlock, nil, errors.New("not supported"))
}
