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
func tree(t testing.TB, files map[string]string) string {
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

// hostAt is a caller in cwd with the environment env, who trusts nothing.
func hostAt(cwd, home string, env map[string]string) config.Host {
	return config.Host{
		Places: policy.Places{Cwd: cwd, Home: home, Own: policy.OwnPaths(home)},
		Env:    func(name string) (string, bool) { v, ok := env[name]; return v, ok },
	}
}

// The configuration of the design's origin loads as it is.
func TestLoadOfSeed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpus, "valid/seed.yaml"))
	require.NoError(t, err)
	dir := tree(t, map[string]string{"portfolio/": "", "pipeline/": "", "framework/": "", "p.yaml": string(text)})
	l, err := config.Load(config.Flags{Config: "p.yaml"}, hostAt(dir, "/home/u", nil))
	require.NoError(t, err)
	e := l.Sandbox.Effective()
	assert.Equal(t, []string{dir + "/framework", dir + "/pipeline", dir + "/portfolio"}, e.Readable())
	assert.Equal(t, []string{dir + "/portfolio"}, e.Writable())
	assert.Equal(t, policy.NetworkOff, e.Network.Mode)
	assert.Equal(t, []string{".md", ".pdf"}, e.Mounts[0].Suffixes)
	assert.Equal(t, int64(10_000_000), e.Mounts[0].MaxFileBytes)
	assert.False(t, e.RequireOS)
	assert.NoError(t, l.Ready())
}

func TestLoadOfDesignExample(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpus, "valid/design.yaml"))
	require.NoError(t, err)
	dir := tree(t, map[string]string{"portfolio/": "", "pipeline/": "", "p.yaml": string(text)})
	l, err := config.Load(config.Flags{Config: "p.yaml", Worker: "analyzer"}, hostAt(dir, "/home/u", nil))
	require.NoError(t, err)
	assert.Subset(t, l.Program.Effective().Readable(), []string{dir + "/pipeline", dir + "/portfolio"})
	assert.Equal(t, []string{dir + "/pipeline"}, l.Sandbox.Effective().Readable())
	assert.Empty(t, config.Validate("p.yaml", hostAt(dir, "/home/u", nil)))
}

// A path is any bytes but NUL.
func TestLoadOfOddPaths(t *testing.T) {
	odd := []string{"a b", "it's", `"quoted"`, "new\nline", "\xff\xfe", "$HOME", "-dash", "ä", "tab\t", "*", "[x]", `back\slash`}
	dir := tree(t, nil)
	var flags config.Flags
	for _, name := range odd {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		flags.RO = append(flags.RO, name)
	}
	l, err := config.Load(flags, hostAt(dir, "", nil))
	require.NoError(t, err)
	e := l.Sandbox.Effective()
	for _, name := range odd {
		assert.True(t, e.CanRead(dir+"/"+name+"/x"), name)
	}
	assert.False(t, e.CanRead(dir+"/other"))
}

func TestLoadOfSixtyMounts(t *testing.T) {
	dir := tree(t, nil)
	var flags config.Flags
	for i := range 60 {
		name := filepath.Join(dir, "d"+string(rune('A'+i)))
		require.NoError(t, os.Mkdir(name, 0o755))
		flags.RW = append(flags.RW, name)
	}
	l, err := config.Load(flags, hostAt(dir, "", nil))
	require.NoError(t, err)
	assert.Len(t, l.Sandbox.Effective().Writable(), 60)
}

// A run without any file and flag must cost next to nothing here.
func BenchmarkLoadOfNothing(b *testing.B) {
	host := hostAt(tree(b, nil), "/nonexistent", nil)
	for b.Loop() {
		if _, err := config.Load(config.Flags{}, host); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadOfFile(b *testing.B) {
	dir := tree(b, nil)
	require.NoError(b, os.WriteFile(dir+"/sbx.yaml", []byte(config.Starter(dir)), 0o644))
	host := hostAt(dir, "/nonexistent", nil)
	for b.Loop() {
		if _, err := config.Load(config.Flags{}, host); err != nil {
			b.Fatal(err)
		}
	}
}

// Whatever a discovered file holds, it grants nothing outside its directory
// without trust, and an error comes with no sandbox.
func FuzzLoadOfDiscovered(f *testing.F) {
	for _, dir := range []string{"valid", "invalid"} {
		for _, text := range corpusFiles(f, dir) {
			f.Add(text)
		}
	}
	for _, text := range []string{
		"sandbox: {root: ..}", "sandbox: {root: /}", "sandbox: {root: ./up}", "sandbox: {root: sub/../..}", "sandbox: {root: \"~\"}",
		"sandbox: {paths: {one: {root: sub, mode: rw}, two: {root: sub/deep, optional: true}}, deny: sub/x}",
	} {
		f.Add([]byte(text))
	}
	top := tree(f, map[string]string{"home/secret": "", "p/sub/deep/": "", "portfolio/": ""})
	require.NoError(f, os.Symlink("..", top+"/p/up"))
	dir := top + "/p"
	host := hostAt(dir+"/sub", top+"/home", nil)
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(dir+"/sbx.yaml", text, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := config.Load(config.Flags{}, host)
		e := l.Sandbox.Effective()
		if err != nil {
			if len(e.Area.Entries()) > 0 {
				t.Fatalf("an error and a sandbox: %v", err)
			}
			return
		}
		for _, root := range append(e.Readable(), e.Writable()...) {
			if !policy.Contains(dir, root) && root != "/etc/gitconfig" {
				t.Fatalf("%s is granted", root)
			}
		}
		if e.Network.Mode != policy.NetworkOff || !e.RequireOS || e.Dynamic || e.System == policy.HostSystem || len(e.Env.Pass) > 0 {
			t.Fatalf("weaker than a stranger's file may be: %+v", e)
		}
	})
}
