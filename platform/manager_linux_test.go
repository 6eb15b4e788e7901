package platform

import (
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestServiceManager wants a manager and a bus, both of them sockets.
func TestServiceManager(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	listen := func(name string) {
		l, err := net.Listen("unix", name) // relative: a path of a socket has 107 bytes at most
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
	}
	require.NoError(t, os.Mkdir("systemd", 0o700))
	assert.False(t, ServiceManager())
	listen("systemd/private")
	assert.False(t, ServiceManager(), "no bus")
	require.NoError(t, os.WriteFile("bus", nil, 0o600))
	assert.False(t, ServiceManager(), "no socket")
	require.NoError(t, os.Remove("bus"))
	listen("bus")
	assert.True(t, ServiceManager())
	t.Setenv("XDG_RUNTIME_DIR", "")
	assert.False(t, ServiceManager(), "not set")
}
