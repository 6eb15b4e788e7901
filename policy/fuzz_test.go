package policy

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whatever a sandbox path says, it leads to a canonical place that the area
// allows, or to a typed error that tells nothing of the host.
func FuzzLocate(f *testing.F) {
	root := tree(f, "p/src/a.go", "p/src/deep/b", "p/docs/x", "p/docs/secret", "outside/f", "other/o",
		"p/in -> src", "p/out -> ../outside", "p/abs -> $T/outside/f", "p/hop -> ../other/o", "p/up -> ..", "p/loop -> loop", "p/src/s -> ../docs/secret")
	mounts := []Mount{mountAt(f, "/", root+"/p", ReadAndWrite), mountAt(f, "", root+"/other", ReadOnly)}
	rootForm, err := New(Spec{Form: RootForm, Mounts: mounts, Denies: []Deny{mustDeny(f, "secret", root, "")}})
	if err != nil {
		f.Fatal(err)
	}
	pathForm := pathForm(f, root, "p rw", "other ro")
	for _, seed := range []string{
		"/src/a.go", "src/../docs/x", "../outside/f", "out/f", "abs", "hop", "up/outside/f", "loop", "/etc/passwd", "~/x", "C:\\x", "", "a\x00",
		"p/src/a.go", "p:src", "other/o", "p/up/other/o", "..", ".", "/", `src\..\..\outside\f`, "src/s", "\xff", "p//src/./deep/../deep/b", "./p/./src", "::", ":p",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		for _, s := range []Sandbox{rootForm, pathForm} {
			e := s.Effective()
			for _, op := range []Access{Read, Write} {
				r, err := s.Locate(op, p)
				x := s.Explain(op, p)
				assert.Equal(t, err == nil, x.Allowed, "%q", p)
				if err != nil {
					assert.Equal(t, Resolution{}, r)
					if !strings.Contains(p, root) {
						assert.NotContains(t, err.Error(), root, "%q", p)
					}
					continue
				}
				assert.True(t, e.can(op, r.Path), "%q leads to %q", p, r.Path)
				assert.True(t, Contains(root+"/p", r.Path) || Contains(root+"/other", r.Path), r.Path)
				if real, err := filepath.EvalSymlinks(r.Path); err == nil {
					assert.Equal(t, real, r.Path)
				}
				if name, ok := s.SandboxPath(r.Path); ok && r.Type != TypeMissing && !strings.ContainsAny(name, "\\") {
					again, err := s.Locate(op, name)
					assert.NoError(t, err, "%q is a name of %q", name, r.Path)
					assert.Equal(t, r.Path, again.Path)
				}
			}
		}
	})
}
