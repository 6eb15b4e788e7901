package platform

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTrustworthy(t *testing.T) {
	for _, row := range []struct {
		name    string
		mode    os.FileMode
		dirMode os.FileMode
		ok      bool
	}{
		{"a program of ours", 0o755, 0o755, true},
		{"writable by the group", 0o775, 0o755, false},
		{"writable by all", 0o757, 0o755, false},
		{"not executable", 0o644, 0o755, false},
		{"setuid", 0o755 | os.ModeSetuid, 0o755, false},
		{"in a directory that others can change", 0o755, 0o777, false},
		{"in a sticky directory", 0o755, 0o777 | os.ModeSticky, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "bin")
			require.NoError(t, os.Mkdir(dir, 0o755))
			p := filepath.Join(dir, "bwrap")
			require.NoError(t, os.WriteFile(p, nil, 0o755))
			require.NoError(t, os.Chmod(p, row.mode))
			require.NoError(t, os.Chmod(dir, row.dirMode))
			err := trustworthy(p)
			assert.Equal(t, row.ok, err == nil, "%v", err)
		})
	}
}

// TestPathThatAttackersChoose: neither a relative directory nor one below the
// working directory supplies the program that builds the walls.
func TestPathThatAttackersChoose(t *testing.T) {
	cwd := t.TempDir()
	require.NoError(t, os.Mkdir(cwd+"/bin", 0o755))
	require.NoError(t, os.WriteFile(cwd+"/bin/bwrap", []byte("#!/bin/sh\n"), 0o755))
	old := systemDirs
	systemDirs = nil
	defer func() { systemDirs = old }()

	found, _ := findBwrap(cwd+"/bin:bin:.", cwd)
	assert.Empty(t, found)
	found, _ = findBwrap(cwd+"/bin", "/elsewhere")
	assert.Equal(t, cwd+"/bin/bwrap", found, "the control arm")
}

func TestCacheIsTrustedOnlyFromUs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	id := identity{Program: "/usr/bin/bwrap", Inode: 7, Around: "user:[1]"}
	p := Probe{Program: id.Program, Version: "0.8.0", Works: true, Features: featuresOf("--size --perms")}
	writeCache(dir, id, p)

	got, ok := readCache(dir, id)
	require.True(t, ok)
	assert.Equal(t, p, got)

	others := []identity{
		{Program: "/usr/bin/bwrap2"}, {Device: 1}, {Inode: 8}, {Size: 1}, {ModifiedNano: 1}, {Kernel: "7"}, {User: 1}, {Around: "user:[2]"},
		{Program: "/usr/bin/bwrap\x007"}, {Around: "user:[1]\x00"},
	}
	require.GreaterOrEqual(t, len(others), reflect.TypeFor[identity]().NumField())
	for _, change := range others {
		other, v := id, reflect.ValueOf(change)
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				reflect.ValueOf(&other).Elem().Field(i).Set(v.Field(i))
			}
		}
		_, ok = readCache(dir, other)
		assert.False(t, ok, "the probe was of another machine: %+v", change)
	}

	require.NoError(t, os.Chmod(filepath.Join(dir, cacheName), 0o666))
	_, ok = readCache(dir, id)
	assert.False(t, ok, "anybody could have written it")
}

func TestInstallCommand(t *testing.T) {
	for _, row := range []struct {
		release string
		want    string
	}{
		{"ID=debian\n", "sudo apt-get install bubblewrap"},
		{"ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "sudo apt-get install bubblewrap"},
		{"ID=\"opensuse-leap\"\n", "sudo zypper install bubblewrap"},
		{"ID=rocky\nID_LIKE=\"rhel centos fedora\"\n", "sudo dnf install bubblewrap"},
		{"ID=own\n", "install the package bubblewrap, or use --backend builtin"},
	} {
		p := filepath.Join(t.TempDir(), "os-release")
		require.NoError(t, os.WriteFile(p, []byte(row.release), 0o644))
		assert.Equal(t, row.want, installCommand(osRelease(p)))
	}
}
