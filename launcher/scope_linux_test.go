package launcher

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// TestScopeHold starts a holder that answers, and one that does not as where
// the manager refuses.
func TestScopeHold(t *testing.T) {
	for program, works := range map[string]bool{"cat": true, "false": false} {
		s := &scope{holder: exec.Command(program)}
		err := s.hold()
		assert.Equal(t, works, err == nil, "%s: %v", program, err)
		s.close()
		s.close() // does no harm
		require.NotNil(t, s.holder.ProcessState, "reaped")
	}
}

// TestScopeFallsBack has the limits watched where a scope is there and the
// command cannot be put into it.
func TestScopeFallsBack(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for _, strict := range []bool{false, true} {
		s := &scope{unit: "sbx-1-1.scope", holder: exec.Command("cat")}
		require.NoError(t, s.hold())
		dir := filepath.Join(t.TempDir(), "leaf")
		require.NoError(t, os.Mkdir(dir, 0o700))
		b := &bounds{
			plan:   platform.Plan{Backend: platform.Builtin},
			limits: policy.Limits{Memory: 64 << 20, Strict: strict},
			group:  &cgroup{dirs: map[string]groupDir{"memory": {path: dir, version: 2}}, scope: s},
		}
		require.NoError(t, b.assign())
		assert.Empty(t, b.gaps)

		err := b.admit(s.holder.Process.Pid)
		if strict {
			require.ErrorAs(t, err, new(*LimitError))
		} else {
			require.NoError(t, err)
		}
		assert.True(t, b.watch.memory)
		assert.Len(t, b.gaps, 1)
		assert.Nil(t, b.group)
		assert.NoDirExists(t, dir)
		assert.NotNil(t, s.holder.ProcessState, "the holder is gone")
	}
}
