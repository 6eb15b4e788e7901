package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/policy"
)

func TestDenialsAreExplained(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	rule := policy.Rule{Text: "--ro lib"}
	e := policy.Effective{
		Area:    policy.NewArea(policy.Entry{Path: dir, Access: policy.Read, Kind: policy.Granted, Type: policy.TypeDir, Rule: rule}),
		Mounts:  []policy.Mount{{Root: dir, Written: dir, Mode: policy.ReadOnly, Type: policy.TypeDir, Rule: rule}},
		Network: policy.Network{Mode: policy.NetworkOff, Rule: policy.Rule{Text: "default"}},
		Places:  policy.Places{Home: "/no-such/home", Cwd: dir},
	}
	rows := denialsOf(e, []launcher.Denial{
		{Operation: "file-write-create", Object: dir + "/new", Process: "touch", Count: 2},
		{Operation: "file-read-data", Object: dir + "/file", Process: "cat", Count: 1},
		{Operation: "network-outbound", Object: "192.0.2.1:443", Process: "curl", Count: 1},
		{Operation: "network-outbound", Object: "/private/var/run/docker.sock", Process: "docker", Count: 1},
		{Operation: "mach-lookup", Object: "com.apple.SecurityServer", Process: "git", Count: 1},
	})
	assert.Equal(t, denial{Operation: "file-write-create", Path: dir + "/new", Process: "touch", Count: 2, Rule: "--ro lib", AllowWith: rows[0].AllowWith}, rows[0])
	assert.Contains(t, rows[0].AllowWith, "--rw")
	assert.Empty(t, rows[1].Rule, "the policy allows it")
	assert.Equal(t, "--net", rows[2].AllowWith)
	assert.Empty(t, rows[3].AllowWith, "no flag opens a socket of the host")
	assert.Empty(t, rows[4].Rule)
	assert.Equal(t, []denial{}, denialsOf(e, nil), "JSON has an empty list, not null")
}
