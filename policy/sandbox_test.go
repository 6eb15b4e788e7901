package policy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewLayers(t *testing.T) {
	root := tree(t, "home/proj/src/", "home/proj/src/main.go", "home/proj/sbx.yaml", "home/proj/.env",
		"home/.ssh/id", "home/.config/sbx/trust", "home/.aws/config", "home/.aws/credentials", "sys/lib/x", "sys/etc/secret")
	home := root + "/home"
	spec := Spec{
		Base: Base{Entries: []Entry{
			{Path: root + "/sys", Access: Read, Kind: System, Type: TypeDir},
			{Path: root + "/sys/etc/secret", Kind: Hidden, Type: TypeFile, Rule: Rule{Text: "never part of the system base"}},
			{Path: home, Kind: Private, Type: TypeDir},
		}},
		Places:  Places{Home: home, Own: []string{home + "/.config/sbx"}},
		Guarded: []string{home + "/proj/sbx.yaml", home + "/proj/absent.yaml", root + "/sys/lib/x"},
	}
	withMounts := func(mounts []Mount, denies ...Deny) Effective {
		s := spec
		s.Mounts, s.Denies = mounts, denies
		return mustNew(t, s).Effective()
	}
	project := mountAt(t, "proj", home+"/proj", ReadAndWrite)
	homeMount := mountAt(t, "home", home, ReadAndWrite)

	for _, tc := range []struct {
		name string
		e    Effective
		want map[string]Access
	}{
		{"the base alone", withMounts(nil), map[string]Access{
			root: None, root + "/sys/lib": Read, root + "/sys/etc/secret": None, home: None, home + "/proj": None,
		}},
		{"a mount inside the private home", withMounts([]Mount{project}), map[string]Access{
			home: None, home + "/proj/src/main.go": ReadWrite, home + "/.ssh/id": None,
		}},
		{"guarded files stay readable", withMounts([]Mount{project}), map[string]Access{
			home + "/proj/sbx.yaml": Read, home + "/proj/absent.yaml": ReadWrite, root + "/sys/lib/x": Read,
		}},
		{"a mount of the home leaves secrets and sbx's own files hidden", withMounts([]Mount{homeMount}), map[string]Access{
			home + "/proj": ReadWrite, home + "/.ssh": None, home + "/.ssh/id": None, home + "/.aws/config": None, home + "/.config": ReadWrite, home + "/.config/sbx/trust": None,
		}},
		{"a secret named by a mount is shown", withMounts([]Mount{homeMount, mountAt(t, "ssh", home+"/.ssh", ReadAndWrite)}), map[string]Access{
			home + "/.ssh/id": ReadWrite, home + "/.aws/config": None,
		}},
		{"a mount inside a secret is shown alone", withMounts([]Mount{homeMount, mountAt(t, "aws", home+"/.aws/config", ReadAndWrite)}), map[string]Access{
			home + "/.aws/config": ReadWrite, home + "/.aws/credentials": None,
		}},
		{"no mount shows sbx's own files", withMounts([]Mount{mountAt(t, "own", home+"/.config/sbx", ReadAndWrite)}), map[string]Access{
			home + "/.config/sbx/trust": None,
		}},
		{"a mount beats the base at the same path", withMounts([]Mount{mountAt(t, "sys", root+"/sys", ReadAndWrite)}), map[string]Access{
			root + "/sys/lib": ReadWrite, root + "/sys/etc/secret": None,
		}},
		{"a mount shows what the base hides, by name", withMounts([]Mount{mountAt(t, "secret", root+"/sys/etc/secret", ReadOnly)}), map[string]Access{
			root + "/sys/etc/secret": Read,
		}},
		{"a deny is final, also for a mount below it", withMounts([]Mount{project, mountAt(t, "src", home+"/proj/src", ReadOnly)}, mustDeny(t, home+"/proj/src", "/", "")), map[string]Access{
			home + "/proj/src": None, home + "/proj/src/main.go": None, home + "/proj/.env": ReadWrite,
		}},
		{"a name pattern", withMounts([]Mount{project}, mustDeny(t, ".env", "/", "")), map[string]Access{
			home + "/proj/.env": None, home + "/proj/src/.env/x": None, home + "/proj/src": ReadWrite,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for p, want := range tc.want {
				assert.Equal(t, want.Has(Read), tc.e.CanRead(p), "read %s", p)
				assert.Equal(t, want.Has(Write), tc.e.CanWrite(p), "write %s", p)
				assert.Equal(t, want.Has(Read), tc.e.Decide(Read, p).Allowed, "decide read %s", p)
				assert.Equal(t, want.Has(Write), tc.e.Decide(Write, p).Allowed, "decide write %s", p)
			}
		})
	}
}

func TestDenyOfALinkClosesItsTarget(t *testing.T) {
	root := tree(t, "p/real/key", "p/link -> real", "p/globdir -> real/sub", "p/real/sub/a.key", "p/other")
	mount := mountAt(t, "p", root+"/p", ReadAndWrite)
	for pattern, closed := range map[string]string{
		"./link":          root + "/p/real/key",
		"./link/key":      root + "/p/real/key",
		"./globdir/*.key": root + "/p/real/sub/a.key",
	} {
		e := mustNew(t, Spec{Mounts: []Mount{mount}, Denies: []Deny{mustDeny(t, pattern, root+"/p", "")}}).Effective()
		assert.False(t, e.CanRead(closed), pattern)
		assert.True(t, e.CanRead(root+"/p/other"), pattern)
	}
}

func TestSecretsAreFollowed(t *testing.T) {
	root := tree(t, "home/.ssh -> ../home/keys", "home/keys/id", "home/x")
	s := mustNew(t, Spec{Mounts: []Mount{mountAt(t, "home", root+"/home", ReadOnly)}, Places: Places{Home: root + "/home"}})
	assert.False(t, s.Effective().CanRead(root+"/home/keys/id"))
	assert.True(t, s.Effective().CanRead(root+"/home/x"))
}

func TestNewErrors(t *testing.T) {
	root := tree(t, "a/", "b/")
	a, b := mountAt(t, "aa", root+"/a", ReadOnly), mountAt(t, "bb", root+"/b", ReadOnly)
	renamed := func(m Mount, name string) Mount { m.Name = name; return m }

	var duplicate *DuplicateRootError
	_, err := New(Spec{Mounts: []Mount{a, renamed(a, "again")}})
	require.ErrorAs(t, err, &duplicate)
	assert.Equal(t, `mounts "aa" and "again" have the same root ./aa`, err.Error())

	for name, spec := range map[string]Spec{
		"two mounts of one name":      {Mounts: []Mount{a, renamed(b, "aa")}},
		"relative root":               {Mounts: []Mount{{Name: "aa", Root: "a"}}},
		"root that is not clean":      {Mounts: []Mount{{Name: "aa", Root: "/a/../b"}}},
		"root form without a root":    {Form: RootForm, Mounts: []Mount{a}},
		"a root mount in a path form": {Mounts: []Mount{renamed(a, "/")}},
	} {
		_, err := New(spec)
		assert.Error(t, err, name)
	}
	mustNew(t, Spec{Mounts: []Mount{renamed(a, ""), renamed(b, "")}})
}

func TestZeroSandboxAllowsNothing(t *testing.T) {
	var s Sandbox
	assert.False(t, s.CanRead("/etc/passwd"))
	assert.False(t, s.CanRead("a"))
	assert.Empty(t, s.ReadableRoots())
	assert.False(t, s.Effective().CanRead("/"))
	child, err := s.Derive(Request{Inherit: true})
	require.NoError(t, err)
	assert.False(t, child.CanRead("a"))
}

func TestLinksAreShownWhereNoMountShowsThem(t *testing.T) {
	root := tree(t, "p/", "p/in -> .", "out -> p")
	inside, outside := Link{root + "/p/in", "."}, Link{root + "/out", "p"}
	e := mustNew(t, Spec{Mounts: []Mount{mountAt(t, "pp", root+"/p", ReadOnly)}, Links: []Link{inside, outside, outside}}).Effective()
	assert.Equal(t, []Link{outside}, e.Links)
	_, d, err := e.Look(Read, root+"/out")
	require.NoError(t, err)
	assert.True(t, d.Allowed)
}
