package main_test

import (
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRootSwappedForLink replaces a root by a link to a private directory and
// back, all the time, while 200 commands are launched on it. A launch may be
// refused; it must never show the private directory.
func TestRootSwappedForLink(t *testing.T) {
	w := newWorld(t)
	w.write("secret/name", "secret")
	w.write("real/name", "real")
	require.NoError(t, os.Remove(w.cwd))
	root := w.dir + "/root"
	require.NoError(t, os.Symlink(w.dir+"/secret", w.dir+"/link"))
	require.NoError(t, os.Rename(w.dir+"/real", root))
	w.cwd = w.dir

	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !stop.Load() {
			_ = os.Rename(root, w.dir+"/real")
			_ = os.Rename(w.dir+"/link", root)
			time.Sleep(rand.N(1500 * time.Microsecond))
			_ = os.Rename(root, w.dir+"/link")
			_ = os.Rename(w.dir+"/real", root)
			time.Sleep(rand.N(20 * time.Millisecond)) // some launches fit in, some do not
		}
	}()
	counts := map[string]int{}
	for range 200 {
		got := w.sbx("run", "--rw", "root", "--", "cat", root+"/name")
		switch {
		case got.stdout == "real":
			counts["right"]++
		case got.stdout == "secret":
			counts["wrong"]++
		default:
			counts["refused"]++
			assert.NotEmpty(t, got.stderr)
		}
	}
	stop.Store(true)
	<-done
	t.Logf("200 launches: %v", counts)
	assert.Zero(t, counts["wrong"])
	assert.NotZero(t, counts["right"], "the test is void if no launch gets through")
}
