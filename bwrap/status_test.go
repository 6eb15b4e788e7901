package bwrap_test

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/bwrap"
)

// The records as bubblewrap 0.8 writes them.
const (
	startedRecord = "{\n    \"child-pid\": 4711,\n    \"cgroup-namespace\": 4026532,\n    \"net-namespace\": 4026533\n}\n"
	exitRecord    = "{ \"exit-code\": 137 }\n"
)

func TestStatus(t *testing.T) {
	for _, tc := range []struct {
		name    string
		records string
		pid     int // 0: an error
		status  bwrap.Status
	}{
		{"a command that ended", startedRecord + exitRecord, 4711, bwrap.Status{ExitCode: 137, Exited: true}},
		{"status 0", startedRecord + `{"exit-code":0}`, 4711, bwrap.Status{Exited: true}},
		{"killed with bubblewrap", startedRecord, 4711, bwrap.Status{}},
		{"never started", "", 0, bwrap.Status{}},
		{"cut short", `{ "child-pid": 47`, 0, bwrap.Status{}},
		{"no pid", `{ "something": 1 }`, 0, bwrap.Status{}},
		{"not a number", `{ "child-pid": "x" }`, 0, bwrap.Status{}},
		{"zero", `{ "child-pid": 0 }`, 0, bwrap.Status{}},
		{"an exit code that is none", startedRecord + `{ "exit-code": }`, 4711, bwrap.Status{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for way, source := range map[string]io.Reader{"at once": strings.NewReader(tc.records), "by bytes": iotest.OneByteReader(strings.NewReader(tc.records))} {
				r := bufio.NewReader(source)
				pid, err := bwrap.ReadStarted(r)
				assert.Equal(t, tc.pid, pid, way)
				assert.Equal(t, tc.pid == 0, err != nil, way)
				if err != nil {
					continue
				}
				status, err := bwrap.ReadExit(r)
				require.NoError(t, err, way)
				assert.Equal(t, tc.status, status, way)
			}
		})
	}
}

// TestStatusFailure: a descriptor that cannot be read is told from an end.
func TestStatusFailure(t *testing.T) {
	_, err := bwrap.ReadExit(iotest.ErrReader(io.ErrClosedPipe))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

func FuzzStatus(f *testing.F) {
	f.Add(startedRecord + exitRecord)
	f.Add(`{"child-pid":`)
	f.Fuzz(func(t *testing.T, records string) {
		r := bufio.NewReader(strings.NewReader(records))
		if pid, err := bwrap.ReadStarted(r); (err == nil) != (pid > 0) {
			t.Fatalf("pid %d with error %v", pid, err)
		}
		if status, err := bwrap.ReadExit(r); err == nil && !status.Exited && status.ExitCode != 0 {
			t.Fatalf("a code without an exit: %+v", status)
		}
	})
}
