package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

// tree makes files below a fresh canonical directory; a name that ends in "/"
// is a directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, content := range files {
		p := filepath.Join(dir, name)
		if name[len(name)-1] == '/' {
			require.NoError(t, os.MkdirAll(p, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte(content), 0o644))
	}
	return dir
}

func hostAt(cwd, home string, env map[string]string) config.Host {
	return config.Host{
		Places: policy.Places{Cwd: cwd, Home: home, Own: policy.OwnPaths(home)},
		Env:    func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	}
}

func TestLoadOfSeed(t *testing.T) {
	dir := tree(t, map[string]string{
		"portfolio/": "", "pipeline/": "", "framework/": "",
		"p.yaml": `version: 1
sandbox:
  # Path boundaries
  paths:
    portfolio:
      root: ./portfolio
      mode: rw                    # read-write
      suffixes: [.md, .pdf]       # application-level filter
      max_file_bytes: 10000000    # application-level limit
    pipeline:
      root: ./pipeline
      mode: ro                    # read-only
      suffixes: [.pdf]
    framework:
      root: ./framework
      mode: ro

  # Network boundary
  network: false

  # OS sandbox requirement
  require_os_sandbox: false  # warn if unavailable, or fail?
`})
	l, err := config.Load(config.Flags{Config: "p.yaml"}, hostAt(dir, "/home/u", nil))
	require.NoError(t, err)
	e := l.Sandbox.Effective()
	assert.Equal(t, []string{dir + "/framework", dir + "/pipeline", dir + "/portfolio"}, e.Readable())
	assert.Equal(t, []string{dir + "/portfolio"}, e.Writable())
	assert.False(t, e.RequireOS)
	assert.NoError(t, l.Ready())
}

func TestLoadOfFlags(t *testing.T) {
	dir := tree(t, map[string]string{"a b'c\n\xff/": "", "file": ""})
	l, err := config.Load(config.Flags{RW: []string{"."}, RO: []string{"a b'c\n\xff", "./file"}}, hostAt(dir, "/home/u", nil))
	require.NoError(t, err)
	e := l.Sandbox.Effective()
	assert.Equal(t, []string{dir}, e.Writable())
	assert.False(t, e.CanWrite(dir+"/file"))
	assert.True(t, e.CanRead(dir+"/a b'c\n\xff/x"))
}
