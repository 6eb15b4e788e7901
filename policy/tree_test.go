package policy

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree builds a directory tree and returns its canonical root. Each line is
// "dir/", "file", "file = content" or "link -> target"; $T in a target is the
// root. Parents are made.
func tree(t testing.TB, lines ...string) string {
	t.Helper()
	r, err := Resolve(t.TempDir())
	require.NoError(t, err)
	grow(t, r.Path, lines...)
	return r.Path
}

func grow(t testing.TB, root string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		name, target, link := strings.Cut(line, " -> ")
		name, content, _ := strings.Cut(name, " = ")
		p := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(path.Dir(p), 0o755))
		switch {
		case link:
			require.NoError(t, os.Symlink(strings.ReplaceAll(target, "$T", root), p))
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(p, 0o755))
		default:
			require.NoError(t, os.WriteFile(p, []byte(content), 0o644))
		}
	}
}

// mountAt makes a mount of a directory of the tree, as the configuration
// would.
func mountAt(t testing.TB, name, root string, mode Mode) Mount {
	t.Helper()
	r, err := Resolve(root)
	require.NoError(t, err)
	written := "./" + name
	if name == "/" {
		written = "."
	}
	return Mount{
		Name: name, Root: r.Path, Written: written, Type: r.Type, Mode: mode,
		WriteApproval: true, Rule: Rule{File: "sbx.yaml", Line: 1, Text: "path " + name},
	}
}

// rootForm is a sandbox of one directory at the virtual "/".
func rootForm(t testing.TB, dir string, mode Mode, denies ...Deny) Sandbox {
	t.Helper()
	return mustNew(t, Spec{Form: RootForm, Mounts: []Mount{mountAt(t, "/", dir, mode)}, Denies: denies})
}

// pathForm is a sandbox of mounts given as "name rw" or "name ro" below root.
func pathForm(t testing.TB, root string, mounts ...string) Sandbox {
	t.Helper()
	spec := Spec{}
	for _, m := range mounts {
		name, mode, _ := strings.Cut(m, " ")
		access := ReadOnly
		if mode == "rw" {
			access = ReadAndWrite
		}
		spec.Mounts = append(spec.Mounts, mountAt(t, name, filepath.Join(root, name), access))
	}
	return mustNew(t, spec)
}

func mustNew(t testing.TB, spec Spec) Sandbox {
	t.Helper()
	s, err := New(spec)
	require.NoError(t, err)
	return s
}

func mustDerive(t testing.TB, s Sandbox, r Request) Sandbox {
	t.Helper()
	child, err := s.Derive(r)
	require.NoError(t, err)
	return child
}

func mustDeny(t testing.TB, written, dir, home string) Deny {
	t.Helper()
	d, err := ParseDeny(written, dir, home, Rule{Text: "deny " + written})
	require.NoError(t, err)
	return d
}

func replaceLink(p, target string) error {
	if err := os.Remove(p); err != nil {
		return err
	}
	return os.Symlink(target, p)
}
