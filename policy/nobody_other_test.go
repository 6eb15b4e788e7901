//go:build !linux

package policy

import (
	"os"
	"testing"
)

// asNobody runs f where file permissions bind the caller.
func asNobody(t *testing.T, _ string, f func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Fatal("run this test as an ordinary user")
	}
	f()
}
