package policy

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hardLinks makes further names of files, given as new name, old name.
func hardLinks(t *testing.T, root string, names ...string) {
	t.Helper()
	for i := 0; i < len(names); i += 2 {
		require.NoError(t, os.Link(root+"/"+names[i+1], root+"/"+names[i]))
	}
}

func TestAliasesOfHiddenFiles(t *testing.T) {
	t.Parallel()
	root := tree(t, "p/.env = s", "p/a/", "p/keys/one = s", "p/plain", "q/", "outside/", "p/shut/inner/f")
	hardLinks(t, root, "p/a/copy", "p/.env", "q/other", "p/.env", "outside/too", "p/.env", "p/a/key", "p/keys/one", "p/plain2", "p/plain", "p/keys/again", "p/keys/one", "q/file", "p/.env")
	mounts := []Mount{mountAt(t, "pp", root+"/p", ReadAndWrite), mountAt(t, "qq", root+"/q", ReadOnly), mountAt(t, "ff", root+"/q/file", ReadOnly)}
	s, err := mustNew(t, Spec{Mounts: mounts, Denies: []Deny{mustDeny(t, ".env", root, ""), mustDeny(t, "./p/keys", root, "")}}).Expand()
	require.NoError(t, err)
	e := s.Effective()
	for _, p := range []string{"p/.env", "p/a/copy", "q/other", "q/file", "p/keys/one", "p/a/key"} {
		assert.Equal(t, Hidden, e.Area.At(root+"/"+p).Kind, p)
		assert.False(t, e.CanRead(root+"/"+p), p)
	}
	for _, p := range []string{"p/plain", "p/plain2", "p/a/new"} {
		assert.True(t, e.CanWrite(root+"/"+p), p)
	}
}

func TestAliasesOfProtectedFiles(t *testing.T) {
	t.Parallel()
	root := tree(t, ".git/HEAD", ".git/config", ".git/objects/", ".git/refs/", ".git/hooks/pre-commit", "tools/", ".envrc")
	hardLinks(t, root, "tools/config", ".git/config", "tools/hook", ".git/hooks/pre-commit", "tools/rc", ".envrc")
	e, err := rootForm(t, root, ReadAndWrite).Effective().Expand()
	require.NoError(t, err)
	for _, p := range []string{"tools/config", "tools/hook", "tools/rc"} {
		assert.False(t, e.CanWrite(root+"/"+p), p)
		assert.True(t, e.CanRead(root+"/"+p), p)
	}
	assert.True(t, e.CanWrite(root+"/tools/new"))

	named, err := mustNew(t, Spec{Mounts: []Mount{mountAt(t, "ws", root, ReadAndWrite), mountAt(t, "rc", root+"/tools/rc", ReadAndWrite)}}).Effective().Expand()
	require.NoError(t, err)
	assert.True(t, named.CanWrite(root+"/tools/rc"), "granted by that very name")
}

// TestAliasesUnsearchable: a name may lie where nobody can look.
func TestAliasesUnsearchable(t *testing.T) {
	t.Parallel()
	root := tree(t, "p/.env = s", "p/shut/f", "p/b/")
	hardLinks(t, root, "p/shut/copy", "p/.env")
	asNobody(t, root, func() {
		deny := mustDeny(t, ".env", root, "")
		_, err := rootForm(t, root+"/p", ReadAndWrite, deny).Expand()
		require.NoError(t, err, "the control arm: all can be searched")
	})
	require.NoError(t, os.Chmod(root+"/p/shut", 0))
	defer os.Chmod(root+"/p/shut", 0o755) //nolint:errcheck // only to clean up
	asNobody(t, root, func() {
		s := mustNew(t, Spec{Form: RootForm, Mounts: []Mount{mountAt(t, "/", root+"/p", ReadAndWrite)}, Denies: []Deny{mustDeny(t, "./p/.env", root, "")}})
		_, err := s.Expand()
		var alias *AliasError
		require.ErrorAs(t, err, &alias)
		assert.Equal(t, AliasError{Path: root + "/p/.env", Names: 1, Unread: root + "/p/shut"}, *alias)
		assert.Contains(t, alias.Error(), "hard links")

		s = mustNew(t, Spec{Form: RootForm, Mounts: []Mount{mountAt(t, "/", root+"/p", ReadAndWrite)}, Denies: []Deny{mustDeny(t, "./p/.env", root, ""), mustDeny(t, "./p/shut", root, "")}})
		_, err = s.Expand()
		assert.NoError(t, err, "what is denied too needs no search")
	})
}
