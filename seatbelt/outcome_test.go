package seatbelt

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		code   int
		stderr string
		want   Outcome
	}{
		{"it ran", 0, "", Started},
		{"a word on stderr is no failure", 0, "sandbox-exec: sandbox_apply", Started},
		{"profile refused", 65, "sandbox-exec: profile.sb:3:0: unbound variable: alow\n", BadProfile},
		{"inside a sandbox", 71, "sandbox-exec: sandbox_apply: Operation not permitted\n", AlreadySandboxed},
		{"not executable", 71, "sandbox-exec: execvp() of '/usr/bin/true' failed: Operation not permitted\n", CannotExecute},
		{"the loader aborts", 134, "", BaseTooNarrow},
		{"another failure", 71, "sandbox-exec: fork: Resource temporarily unavailable\n", Failed},
		{"killed", 137, "", Failed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, Judge(tc.code, tc.stderr))
		})
	}
	assert.True(t, OwnExit(65))
	assert.False(t, OwnExit(1))
	assert.Equal(t, "sandbox_apply: Operation not permitted", Words("sandbox-exec: sandbox_apply: Operation not permitted\nmore\n"))
}
