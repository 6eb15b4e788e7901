package policy

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExpand(t *testing.T) {
	root := tree(t,
		"p/.env", "p/a/b/.env", "p/a/ok", "p/keys/one.pem", "p/link.pem -> a/ok", "p/gone.pem -> nowhere", "p/out.pem -> ../outside/x",
		"p/hidden/inner/.env", "p/hidden/inner/ok", "outside/x", "q/.env", "single.pem",
	)
	mounts := []Mount{
		mountAt(t, "pp", root+"/p", ReadAndWrite), mountAt(t, "inner", root+"/p/hidden/inner", ReadOnly),
		mountAt(t, "single", root+"/single.pem", ReadOnly), mountAt(t, "qq", root+"/q", ReadOnly),
	}
	hideAround := Base{Entries: []Entry{{Path: root + "/p/hidden", Kind: Hidden, Type: TypeDir}}}

	for _, tc := range []struct {
		name    string
		denies  []string
		hidden  []string // what Expand must close by name
		allowed []string
	}{
		{"a name, in nested mounts too", []string{".env"},
			[]string{"p/.env", "p/a/b/.env", "p/hidden/inner/.env", "q/.env"}, []string{"p/a/ok", "p/hidden/inner/ok"}},
		{"a link closes its target", []string{"*.pem"}, []string{"p/keys/one.pem", "p/a/ok"}, []string{"p/.env", "single.pem"}},
		{"an absolute pattern reaches a mount that is a file", []string{root + "/*.pem"}, []string{"single.pem"}, []string{"p/keys/one.pem"}},
		{"a whole directory", []string{root + "/p/k*"}, []string{"p/keys"}, []string{"p/.env"}},
		{"a pattern that matches nothing", []string{"*.nothing"}, nil, []string{"p/.env"}},
		{"several", []string{".env", root + "/p/**/*.pem"}, []string{"p/.env", "q/.env", "p/keys/one.pem", "p/a/ok"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spec := Spec{Mounts: mounts, Base: hideAround}
			for _, d := range tc.denies {
				spec.Denies = append(spec.Denies, mustDeny(t, d, root, ""))
			}
			s := mustNew(t, spec)
			e, err := s.Effective().Expand()
			require.NoError(t, err)
			expanded, err := s.Expand()
			require.NoError(t, err)
			assert.Equal(t, e.Area, expanded.Effective().Area)
			for _, p := range tc.hidden {
				entry := e.Area.At(root + "/" + p)
				assert.Equal(t, Hidden, entry.Kind, p)
				if e.Area.Above(root+"/"+p).Access != None {
					assert.Equal(t, root+"/"+p, entry.Path, "closed by its own name")
					assert.NotEqual(t, TypeUnknown, entry.Type, p)
				}
				assert.False(t, e.CanRead(root+"/"+p))
			}
			for _, p := range tc.allowed {
				assert.True(t, e.CanRead(root+"/"+p), p)
			}
			for _, entry := range e.Area.Entries() {
				r, err := Resolve(entry.Path)
				require.NoError(t, err)
				assert.Equal(t, r.Path, entry.Path, "entries are canonical")
			}
		})
	}
}

// In the system base only absolute patterns count, from wherever they start.
func TestExpandInTheSystemBase(t *testing.T) {
	root := tree(t, "sys/share/a.key", "sys/share/deep/b.key", "sys/share/ok", "etc/one.key")
	base := Base{Entries: []Entry{
		{Path: root + "/sys", Access: Read, Kind: System, Type: TypeDir},
		{Path: root + "/etc/one.key", Access: Read, Kind: System, Type: TypeFile},
	}}
	for pattern, closed := range map[string]int{root + "/sys/share/*.key": 1, root + "/**/*.key": 3, root + "/sys/**/*.key": 2, "*.key": 0} {
		e, err := mustNew(t, Spec{Base: base, Denies: []Deny{mustDeny(t, pattern, root, "")}}).Effective().Expand()
		require.NoError(t, err)
		hidden := 0
		for _, p := range []string{"sys/share/a.key", "sys/share/deep/b.key", "etc/one.key"} {
			// The area and the decision, which also knows the pattern, agree.
			assert.Equal(t, e.CanRead(root+"/"+p), e.Area.At(root+"/"+p).Access.Has(Read), "%s %s", pattern, p)
			if !e.CanRead(root + "/" + p) {
				hidden++
			}
		}
		assert.Equal(t, closed, hidden, pattern)
		assert.True(t, e.CanRead(root+"/sys/share/ok"))
	}
}

// A fixed beginning that is a link is followed; what is closed is the target.
func TestExpandThroughALinkedBeginning(t *testing.T) {
	root := tree(t, "p/real/a.key", "p/conf -> real")
	d := mustDeny(t, "./conf/*.key", root+"/p", "")
	e, err := mustNew(t, Spec{Mounts: []Mount{mountAt(t, "pp", root+"/p", ReadOnly)}, Denies: []Deny{d}}).Effective().Expand()
	require.NoError(t, err)
	assert.Equal(t, root+"/p/real/a.key", e.Area.At(root+"/p/real/a.key").Path)
	assert.False(t, e.Area.Lists(root+"/p/conf/a.key"))
}

func TestExpandWithoutPatternsReadsNothing(t *testing.T) {
	e := rootForm(t, tree(t, "a"), ReadOnly, mustDeny(t, "./a", "/x", "")).Effective()
	expanded, err := e.Expand()
	require.NoError(t, err)
	assert.Equal(t, e, expanded)
}

// What we may not look into the owner may open by chmod, so it is closed as a
// whole.
func TestExpandClosesWhatItCannotRead(t *testing.T) {
	root := tree(t, "open/.env", "locked/.env", "locked/ok")
	require.NoError(t, os.Chmod(root+"/locked", 0o311))
	t.Cleanup(func() { _ = os.Chmod(root+"/locked", 0o755) })
	s := rootForm(t, root, ReadAndWrite, mustDeny(t, ".env", root, ""))
	asNobody(t, root, func() {
		e, err := s.Effective().Expand()
		require.NoError(t, err)
		assert.True(t, e.CanRead(root+"/open"))
		assert.False(t, e.CanRead(root+"/locked/ok"))
		assert.Equal(t, root+"/locked", e.Area.At(root+"/locked/ok").Path)
	})
}
