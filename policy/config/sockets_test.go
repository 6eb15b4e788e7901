package config_test

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

func TestUnixSockets(t *testing.T) {
	dir := tree(t, map[string]string{
		"none.yaml":    "sandbox: {root: .}\n",
		"private.yaml": "sandbox: {root: ., unix_sockets: private}\n",
		"list.yaml":    "sandbox: {root: ., unix_sockets: [./s]}\n",
		"plain.yaml":   "sandbox: {root: ., unix_sockets: [./none.yaml]}\n",
		"gone.yaml":    "sandbox: {root: ., unix_sockets: [./absent]}\n",
	})
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	defer l.Close()
	load := func(file string) (policy.Sockets, error) {
		loaded, err := config.Load(config.Flags{Config: filepath.Join(dir, file)}, config.Host{Places: policy.Places{Cwd: dir}})
		return loaded.Sandbox.Effective().Sockets, err
	}

	s, err := load("none.yaml")
	require.NoError(t, err)
	assert.False(t, s.Any())

	s, err = load("private.yaml")
	require.NoError(t, err)
	assert.True(t, s.Own)
	assert.Empty(t, s.Paths)

	s, err = load("list.yaml")
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(dir, "s")}, s.Paths)

	_, err = load("plain.yaml")
	assert.ErrorContains(t, err, "not a unix socket")
	_, err = load("gone.yaml")
	assert.ErrorContains(t, err, "does not exist")
}
