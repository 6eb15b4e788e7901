package policy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResolveBase(t *testing.T) {
	home := tree(t, "x")
	places := Places{Home: home}
	for _, system := range []SystemBase{Minimal, HostSystem, NoSystem} {
		base, err := ResolveBase(system, NetworkOff, places)
		require.NoError(t, err)
		e := mustNew(t, Spec{Base: base, Places: places}).Effective()

		assert.Equal(t, system != NoSystem, e.CanRead("/usr/bin"), system)
		assert.Equal(t, system != NoSystem, e.CanRead("/etc/passwd"), system)
		assert.False(t, e.CanRead("/etc/shadow"), system)
		assert.False(t, e.CanWrite("/usr/bin"), system)
		assert.False(t, e.CanRead(home+"/x"), system)
		assert.False(t, e.CanRead("/tmp"), system)
		assert.Equal(t, Private, e.Area.At("/proc/1").Kind)
		assert.Equal(t, Private, e.Area.At(home).Kind)
		assert.Empty(t, e.Readable(), "the base is no grant")
		for _, l := range e.Links {
			_, d, err := e.Look(Read, l.Path)
			require.NoError(t, err)
			assert.True(t, d.Allowed, "%v leads into the base", l)
		}
	}
}

func TestBaseShowsNamesOnlyWithNetwork(t *testing.T) {
	assert.NotContains(t, systemPaths(Minimal, NetworkOff), "/etc/resolv.conf")
	assert.Contains(t, systemPaths(Minimal, NetworkList), "/etc/resolv.conf")
	assert.Contains(t, systemPaths(Minimal, NetworkOn), "/etc/resolv.conf")
	assert.Empty(t, systemPaths(NoSystem, NetworkOn))
}

// Naming a directory of the system does not name the secrets in it, whatever
// the base is.
func TestSystemSecretsStayHidden(t *testing.T) {
	r, err := Resolve("/etc")
	require.NoError(t, err)
	etc := Mount{Name: "etc", Root: r.Path, Written: "/etc", Type: r.Type}
	e := mustNew(t, Spec{Mounts: []Mount{etc}}).Effective()
	require.True(t, e.CanRead("/etc/passwd"))
	for _, p := range hostSecrets {
		if r, err := Resolve(p); err == nil && r.Type != TypeMissing {
			assert.False(t, e.CanRead(r.Path), p)
		}
	}
}

func TestParseSystemBase(t *testing.T) {
	for _, b := range []SystemBase{Minimal, HostSystem, NoSystem} {
		got, err := ParseSystemBase(b.String())
		require.NoError(t, err)
		assert.Equal(t, b, got)
	}
	_, err := ParseSystemBase("full")
	assert.EqualError(t, err, `system: want minimal, host or none, got "full"`)
}

func TestOwnPaths(t *testing.T) {
	assert.Equal(t, []string{"/h/.cache/sbx", "/h/.config/sbx", "/h/.local/state/sbx"}, OwnPaths("/h"))
	assert.Empty(t, OwnPaths(""))
}
