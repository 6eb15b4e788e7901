package platform

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/policy"
)

// workspace is a policy over a directory of its own, with a policy file in it
// and links that stand for a protected and for a denied one.
func workspace(t *testing.T, mode policy.Mode, protect policy.Protect, guarded ...string) (dir string, e policy.Effective) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range []string{"settings", "secret", "etc"} {
		require.NoError(t, os.Mkdir(dir+"/"+name, 0o755))
	}
	require.NoError(t, os.WriteFile(dir+"/etc/sbx.yaml", nil, 0o644))
	require.NoError(t, os.Symlink("settings", dir+"/.vscode"))
	require.NoError(t, os.Symlink("secret", dir+"/.env"))
	for i, name := range guarded {
		guarded[i] = dir + "/" + name
	}
	deny, err := policy.ParseDeny("./.env", dir, "", policy.Rule{Text: "--deny ./.env"})
	require.NoError(t, err)
	s, err := policy.New(policy.Spec{
		Mounts: []policy.Mount{{Name: "ws", Root: dir, Mode: mode, Type: policy.TypeDir}}, Denies: []policy.Deny{deny},
		Guarded: guarded, RequireOS: true, Protect: protect,
	})
	require.NoError(t, err)
	s, err = s.Expand()
	require.NoError(t, err)
	return dir, s.Effective()
}

// TestChangeablePolicyFiles: only files that exist, where they can be written.
func TestChangeablePolicyFiles(t *testing.T) {
	for _, row := range []struct {
		name    string
		mode    policy.Mode
		guarded string
		found   []string
	}{
		{"below a writable root", policy.ReadAndWrite, "etc/sbx.yaml", []string{"etc/sbx.yaml"}},
		{"behind a link", policy.ReadAndWrite, ".vscode", []string{"etc/sbx.yaml", ".vscode"}},
		{"not there, and another further down", policy.ReadAndWrite, "sbx.yaml", []string{"etc/sbx.yaml"}},
		{"outside, and another further down", policy.ReadAndWrite, "../sbx.yaml", []string{"etc/sbx.yaml"}},
		{"below a root for reading", policy.ReadOnly, "etc/sbx.yaml", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir, e := workspace(t, row.mode, policy.ProtectExisting, filepath.Clean(row.guarded))
			var want []string
			for _, p := range row.found {
				want = append(want, dir+"/"+p)
			}
			assert.Equal(t, want, changeable(e))
		})
	}
}

// TestHeldByMounts: /proc/sys and the like are on every machine, but only a
// read-only mount holds a file, and only a mount point holds its name.
func TestHeldByMounts(t *testing.T) {
	dir, e := workspace(t, policy.ReadAndWrite, policy.ProtectExisting)
	assert.False(t, heldByMounts(e, dir+"/etc/sbx.yaml"))
	assert.False(t, isMountPoint(dir+"/etc"))
	assert.True(t, isMountPoint("/proc"))
	require.NoError(t, os.Symlink("/proc", dir+"/link"))
	assert.False(t, isMountPoint(dir+"/link"))
	assert.False(t, onReadOnlyMount(dir))
}

// TestLooseLinksArePinned where somebody can, and named where nobody can; strict
// then does not start.
func TestLooseLinksArePinned(t *testing.T) {
	able := func(bwrap.Layout) bool { return true }
	pins := func(l bwrap.Layout) (paths []string) {
		for _, m := range l.Mounts {
			if m.Op == bwrap.PinLink {
				paths = append(paths, filepath.Base(m.Path))
			}
		}
		return paths
	}
	for _, protect := range []policy.Protect{policy.ProtectExisting, policy.ProtectStrict} {
		dir, e := workspace(t, policy.ReadAndWrite, protect)
		with, err := layoutHere(e, Request{PinsLinks: able})
		require.NoError(t, err)
		assert.Equal(t, []string{".env", ".vscode"}, pins(with))
		plan := Plan{Backend: Bwrap, Effective: e, Layout: with}
		assert.Empty(t, deniedDetail(plan))
		assert.NotContains(t, exposureDetail(plan), "symbolic link")
		require.NoError(t, refuseLoose(plan))

		plan.Layout, err = layoutHere(e, Request{})
		require.NoError(t, err)
		assert.Empty(t, pins(plan.Layout))
		assert.Contains(t, deniedDetail(plan), dir+"/.env")
		assert.Contains(t, exposureDetail(plan), dir+"/.vscode")
		refused := refuseLoose(plan)
		if protect == policy.ProtectExisting {
			require.NoError(t, refused)
			continue
		}
		var unavailable *policy.BackendUnavailableError
		require.ErrorAs(t, refused, &unavailable)
		assert.Contains(t, unavailable.Reason, dir+"/.vscode")
		assert.NotEmpty(t, unavailable.Hint())
	}
}
