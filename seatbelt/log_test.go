package seatbelt

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseRefusal(t *testing.T) {
	t.Parallel()
	message := func(text string) string {
		line, err := json.Marshal(map[string]any{"eventMessage": text, "processID": 0, "senderImagePath": "/System/Library/Extensions/Sandbox.kext"})
		require.NoError(t, err)
		return string(line)
	}
	for _, tc := range []struct {
		name, line string
		want       Refusal
		ok         bool
	}{
		{"a path", message("Sandbox: cat(812) deny(1) file-read-data /private/etc/hosts\nsbx-7"), Refusal{"file-read-data", "/private/etc/hosts", "cat", 812, 1}, true},
		{"tag on the same line", message("Sandbox: cat(812) deny(1) file-read-data /private/etc/hosts sbx-7"), Refusal{"file-read-data", "/private/etc/hosts", "cat", 812, 1}, true},
		{"spaces in both names", message("Sandbox: My App (x)(9) deny(1) file-write-create /Users/u/a b/c\nsbx-7"), Refusal{"file-write-create", "/Users/u/a b/c", "My App (x)", 9, 1}, true},
		{"no object", message("Sandbox: sh(3) deny(1) process-fork\nsbx-7"), Refusal{"process-fork", "", "sh", 3, 1}, true},
		{"repeated", message("12 duplicate reports for Sandbox: git(4) deny(1) file-read-metadata /Users/u\nsbx-7"), Refusal{"file-read-metadata", "/Users/u", "git", 4, 12}, true},
		{"a service", message("Sandbox: x(5) deny(1) mach-lookup com.apple.SecurityServer\nsbx-7"), Refusal{"mach-lookup", "com.apple.SecurityServer", "x", 5, 1}, true},
		{"an address", message("Sandbox: curl(6) deny(1) network-outbound 192.0.2.1:443\nsbx-7"), Refusal{"network-outbound", "192.0.2.1:443", "curl", 6, 1}, true},
		{"noise", message("Sandbox: x(5) deny(1) mach-lookup com.apple.diagnosticd\nsbx-7"), Refusal{}, false},
		{"noise of dtrace", message("Sandbox: x(5) deny(1) file-read-data /dev/dtracehelper\nsbx-7"), Refusal{}, false},
		{"another run", message("Sandbox: cat(812) deny(1) file-read-data /private/etc/hosts\nsbx-8"), Refusal{}, false},
		{"no tag", message("Sandbox: cat(812) deny(1) file-read-data /private/etc/hosts"), Refusal{}, false},
		{"an allow", message("Sandbox: cat(812) allow(1) file-read-data /private/etc/hosts\nsbx-7"), Refusal{}, false},
		{"other words", message("System Policy: cat(812) said something sbx-7"), Refusal{}, false},
		{"the first line", `Filtering the log data using "eventMessage ENDSWITH \"sbx-7\""`, Refusal{}, false},
		{"cut off", `{"eventMessage":"Sandbox: cat(812) deny(1) file-re`, Refusal{}, false},
		{"nothing", "", Refusal{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, ok := ParseRefusal(tc.line, "sbx-7")
			assert.Equal(t, tc.ok, ok)
			assert.Equal(t, tc.want, got)
		})
	}
	assert.True(t, LogBegun(`Filtering the log data using "x"`))
	assert.False(t, LogBegun("{}"))
}

func TestAddRefusal(t *testing.T) {
	t.Parallel()
	one := Refusal{Operation: "file-read-data", Object: "/a", Process: "cat", PID: 1, Count: 1}
	again := one
	again.PID, again.Count = 2, 3
	list := AddRefusal(AddRefusal(nil, one), again)
	require.Len(t, list, 1)
	assert.Equal(t, 4, list[0].Count)
	for i := range 2 * MostRefusals {
		other := one
		other.Object = "/" + strconv.Itoa(i)
		list = AddRefusal(list, other)
	}
	assert.Len(t, list, MostRefusals)
}

func FuzzParseRefusal(f *testing.F) {
	f.Add(`{"eventMessage":"Sandbox: cat(812) deny(1) file-read-data /a\nsbx-7"}`)
	f.Add("Filtering the log data")
	f.Fuzz(func(t *testing.T, line string) {
		r, ok := ParseRefusal(line, "sbx-7")
		if ok && (r.Operation == "" || r.Process == "" || r.Count < 0) {
			t.Errorf("%q gives %+v", line, r)
		}
	})
}
