package seatbelt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sbx-run/sbx/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPolicyOfThisHost renders what a Linux host makes of a policy, for review
// away from a Mac: its base has other places and links, and its temporary
// directory is one that macOS names otherwise.
func TestPolicyOfThisHost(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.pem"), nil, 0o600))
	for _, system := range []policy.SystemBase{policy.Minimal, policy.HostSystem, policy.NoSystem} {
		places := policy.Places{Home: "/home/nobody-here", Cwd: dir, Own: policy.OwnPaths("/home/nobody-here")}
		base, err := policy.ResolveBase(system, policy.NetworkOff, places)
		require.NoError(t, err)
		deny, err := policy.ParseDeny("*.pem", dir, places.Home, policy.Rule{Text: "deny"})
		require.NoError(t, err)
		s, err := policy.New(policy.Spec{
			Base: base, Places: places, Denies: []policy.Deny{deny},
			Mounts: []policy.Mount{{Name: "work", Root: dir, Written: ".", Mode: policy.ReadAndWrite, Type: policy.TypeDir}},
		})
		require.NoError(t, err)
		e, err := s.Effective().Expand()
		require.NoError(t, err)

		p := compileProfile(t, mustRender(t, e, Run{}))
		assert.Empty(t, p.Lint())
		asked := []string{dir, dir + "/a", dir + "/x.pem", dir + "/sub/y.pem", "/home/nobody-here/x", "/tmp/x", "/srv/x"}
		for _, entry := range e.Area.Entries() {
			if !policy.Contains("/dev", entry.Path) && entry.Access != policy.None {
				asked = append(asked, entry.Path+"/below")
			}
		}
		for _, path := range asked {
			for _, reading := range readings {
				read := p.Decide(fileQuery("file-read-data", canonical(path)), reading)
				assert.Equal(t, e.CanRead(path), read.Allowed, "read %s under %s, line %d", path, reading, read.Line)
				write := p.Decide(fileQuery("file-write-data", canonical(path)), reading)
				assert.Equal(t, e.CanWrite(path), write.Allowed, "write %s under %s, line %d", path, reading, write.Line)
			}
		}
	}
}

func BenchmarkRender(b *testing.B) {
	e, run := typical(), Run{Private: []string{"/private/tmp/sbx-1"}, Tag: "sbx-1"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Render(e, run); err != nil {
			b.Fatal(err)
		}
	}
}
