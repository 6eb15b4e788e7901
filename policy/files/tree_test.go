//go:build unix

package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
)

// tree builds a directory tree and returns its canonical root. Each line is
// "dir/", "file", "file = content" or "link -> target"; $T in a target is the
// root.
func tree(t testing.TB, lines ...string) string {
	t.Helper()
	r, err := policy.Resolve(t.TempDir())
	require.NoError(t, err)
	for _, line := range lines {
		name, target, link := strings.Cut(line, " -> ")
		name, content, _ := strings.Cut(name, " = ")
		p := filepath.Join(r.Path, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		switch {
		case link:
			require.NoError(t, os.Symlink(strings.ReplaceAll(target, "$T", r.Path), p))
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(p, 0o755))
		default:
			require.NoError(t, os.WriteFile(p, []byte(content), 0o644))
		}
	}
	return r.Path
}

// mount makes a mount of a place of the tree; mode is "ro" or "rw".
func mount(t testing.TB, name, root, mode string, change ...func(*policy.Mount)) policy.Mount {
	t.Helper()
	r, err := policy.Resolve(root)
	require.NoError(t, err)
	m := policy.Mount{Name: name, Root: r.Path, Written: "./" + name, Type: r.Type}
	if mode == "rw" {
		m.Mode = policy.ReadAndWrite
	}
	for _, f := range change {
		f(&m)
	}
	return m
}

func suffixes(list ...string) func(*policy.Mount) {
	return func(m *policy.Mount) { m.Suffixes = list }
}

func maxFileBytes(n int64) func(*policy.Mount) {
	return func(m *policy.Mount) { m.MaxFileBytes = n }
}

// tools makes the tools of a sandbox in the path form, or in the root form if
// a mount is called "/".
func tools(t testing.TB, denies []string, mounts ...policy.Mount) Files {
	t.Helper()
	spec := policy.Spec{Mounts: mounts}
	for _, m := range mounts {
		if m.Name == "/" {
			spec.Form = policy.RootForm
		}
	}
	for _, written := range denies {
		d, err := policy.ParseDeny(written, mounts[0].Root, "", policy.Rule{})
		require.NoError(t, err)
		spec.Denies = append(spec.Denies, d)
	}
	s, err := policy.New(spec)
	require.NoError(t, err)
	s, err = s.Expand()
	require.NoError(t, err)
	return New(s)
}

func content(t testing.TB, p string) string {
	t.Helper()
	data, err := os.ReadFile(p)
	require.NoError(t, err)
	return string(data)
}

// names lists everything in a directory, hidden or not.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.Name()
	}
	return all
}
