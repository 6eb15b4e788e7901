package main_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLargeEnvironment runs with a mebibyte of variables, which reach the
// command where the policy passes them and cost nothing where it does not.
func TestLargeEnvironment(t *testing.T) {
	w := newWorld(t)
	for i := range 16 {
		w.env = append(w.env, fmt.Sprintf("BIG_%02d=%s", i, strings.Repeat("x", 64<<10)))
	}
	for _, backend := range []string{"bwrap", "builtin"} {
		got := w.sbx("run", "--backend", backend, "-c", "env | grep -c BIG_")
		assert.Equal(t, "0\n", got.stdout, got.stderr)
		got = w.sbx("run", "--backend", backend, "--env", "BIG_*", "-c", "env | grep -c BIG_")
		assert.Equal(t, "16\n", got.stdout, got.stderr)
	}
}
