package launcher

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt"
)

func TestProfileIsHandedOver(t *testing.T) {
	p := seatbelt.Profile{Text: "(version 1)\n"}
	dir := t.TempDir()
	file, err := handOver(p, policy.Effective{}, dir)
	require.NoError(t, err)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, p.Text, string(content))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	_, err = handOver(p, policy.Effective{}, dir)
	require.Error(t, err, "what is there already is not trusted")

	open := policy.Effective{Area: policy.NewArea(policy.Entry{Path: "/", Access: policy.ReadWrite, Kind: policy.Granted})}
	file, err = handOver(p, open, dir+"/other")
	require.NoError(t, err)
	assert.Empty(t, file, "a place that commands can write holds no profile")
	_, err = handOver(seatbelt.Profile{Text: strings.Repeat(";", mostText+1)}, open, dir)
	var se *SetupError
	require.ErrorAs(t, err, &se)
}

func TestTagsDiffer(t *testing.T) {
	a, b := newTag(), newTag()
	assert.NotEqual(t, a, b)
	_, err := seatbelt.Render(policy.Effective{}, seatbelt.Run{Tag: a})
	require.NoError(t, err)
}

func TestLimitsThatMacOSLacks(t *testing.T) {
	assert.Empty(t, unkept(policy.Limits{Timeout: time.Second, Output: 5}))
	assert.Equal(t, []string{
		"limit memory is not kept on macOS; limits.timeout is",
		"limit processes is not kept on macOS; limits.timeout is",
	}, unkept(policy.Limits{Processes: 3, Memory: 1 << 20}))
}

func TestOwnFailure(t *testing.T) {
	nested := &policy.BackendUnavailableError{Backend: "seatbelt", Reason: "inside a sandbox already", Remedy: "start it outside"}
	var ce *CommandError
	var se *SetupError
	require.ErrorAs(t, ownFailure(71, "tool", nested), &se)
	assert.Contains(t, se.Reason, "inside a sandbox already")
	assert.Equal(t, "start it outside", se.Hint())
	require.ErrorAs(t, ownFailure(71, "tool", nil), &ce)
	assert.False(t, ce.NotFound)
	require.ErrorAs(t, ownFailure(65, "tool", nil), &se)
	assert.Contains(t, se.Reason, "profile")
}

func TestDescendants(t *testing.T) {
	all := []relative{{1, 0}, {10, 1}, {11, 10}, {12, 11}, {13, 10}, {20, 1}, {0, 0}}
	assert.ElementsMatch(t, []int{11, 12, 13}, descendants(10, all))
	assert.Empty(t, descendants(20, all))
	assert.Empty(t, descendants(10, []relative{{10, 10}}), "a circle ends")
}
