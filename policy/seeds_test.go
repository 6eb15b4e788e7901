package policy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The groups of tests that the design's first document lists, in its order
// and with its examples. Details are in the tests next to each file.
func TestDesignGroups(t *testing.T) {
	root := tree(t, "p/src/a.py", "p/docs/x.md", "p/out -> ../outside", "p/output/reports/r", "p/input/i", "outside/f")
	program := rootForm(t, root+"/p", ReadAndWrite)
	mounts := pathForm(t, root+"/p", "output rw", "input ro")

	t.Run("1 root paths resolve with and without the slash", func(t *testing.T) {
		for _, p := range []string{"/src/a.py", "src/a.py"} {
			got, err := program.Resolve(p)
			require.NoError(t, err)
			assert.Equal(t, root+"/p/src/a.py", got)
		}
	})
	t.Run("2 escapes are refused", func(t *testing.T) {
		for _, p := range []string{"../outside/f", "/out/f", "/etc/passwd", root + "/outside/f", "/tmp/x"} {
			_, err := program.Resolve(p)
			assert.IsType(t, &PathNotInSandboxError{}, err, p)
			assert.False(t, program.CanWrite(p), p)
		}
	})
	t.Run("3 derive with no arguments is empty", func(t *testing.T) {
		assertAccess(t, mustDerive(t, program, Request{}), map[string]string{"/": "-", "/src/a.py": "-", "/docs/x.md": "-"})
		assertAccess(t, mustDerive(t, mounts, Request{}), map[string]string{"output": "-", "input/i": "-"})
	})
	t.Run("4 allow_read allows reads there only", func(t *testing.T) {
		assertAccess(t, mustDerive(t, program, Request{AllowRead: []string{"/src"}}), map[string]string{"/src/a.py": "r", "/docs/x.md": "-"})
		assertAccess(t, mustDerive(t, mounts, Request{AllowRead: []string{"output/reports"}}), map[string]string{"output/reports/r": "r", "output/x": "-", "input/i": "-"})
	})
	t.Run("5 reads alone give no writes, writes alone give reads", func(t *testing.T) {
		assertAccess(t, mustDerive(t, program, Request{AllowRead: []string{"/src"}}), map[string]string{"/src/a.py": "r"})
		assertAccess(t, mustDerive(t, program, Request{AllowWrite: []string{"/src"}}), map[string]string{"/src/a.py": "rw", "/docs/x.md": "-"})
	})
	t.Run("6 inherit yields all, lists restrict further", func(t *testing.T) {
		assertAccess(t, mustDerive(t, program, Request{Inherit: true}), map[string]string{"/src/a.py": "rw", "/docs/x.md": "rw"})
		assertAccess(t, mustDerive(t, program, Request{Inherit: true, AllowWrite: []string{"/src"}}), map[string]string{"/src/a.py": "rw", "/docs/x.md": "-"})
	})
	t.Run("7 readonly only goes down, and nothing changes without derive", func(t *testing.T) {
		readonly := mustDerive(t, program, Request{Inherit: true, Readonly: new(true)})
		assertAccess(t, readonly, map[string]string{"/src/a.py": "r"})
		_, err := readonly.Derive(Request{Inherit: true, Readonly: new(false)})
		assert.EqualError(t, err, "Cannot create child sandbox with readonly=False: parent sandbox is readonly. Child sandboxes may only restrict access.\nValid alternatives: readonly=True; no readonly at all")
		assertAccess(t, mounts, map[string]string{"output/x": "rw", "input/i": "r"})
		assertAccess(t, program, map[string]string{"/src/a.py": "rw"})
	})
}

// The table of permission inheritance: what a worker gets of its program.
func TestDesignInheritanceTable(t *testing.T) {
	root := tree(t, "src/a")
	for _, tc := range []struct {
		parent  Mode
		request Request
		want    string // "" is an escalation
	}{
		{ReadAndWrite, Request{Inherit: true}, "rw"},
		{ReadAndWrite, Request{Inherit: true, Readonly: new(true)}, "r"},
		{ReadOnly, Request{Inherit: true}, "r"},
		{ReadOnly, Request{Inherit: true, Readonly: new(false)}, ""},

		{ReadAndWrite, Request{Restrict: "/src"}, "rw"},
		{ReadAndWrite, Request{Restrict: "/src", Readonly: new(true)}, "r"},
		{ReadOnly, Request{Restrict: "/src"}, "r"},
		{ReadOnly, Request{Restrict: "/src", Readonly: new(false)}, ""},
	} {
		child, err := rootForm(t, root, tc.parent).Derive(tc.request)
		if tc.want == "" {
			var escalation *PermissionEscalationError
			assert.ErrorAs(t, err, &escalation)
			continue
		}
		require.NoError(t, err)
		assertAccess(t, child, map[string]string{"/src/a": tc.want})
	}
}
