//go:build darwin && maccheck

package platform

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMacDoctor prints what this machine gives.
func TestMacDoctor(t *testing.T) {
	r := Doctor(Surroundings{Path: os.Getenv("PATH"), Cwd: "/"})
	for _, f := range r.Findings {
		t.Logf("%-8s %-16s %s", f.State, f.Name, f.Detail)
	}
	assert.Equal(t, Seatbelt, r.Backend)
}

// TestMacStoredSpelling asks for a name in another case and Unicode form.
func TestMacStoredSpelling(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	stored := dir + "/Caf\u00e9"
	require.NoError(t, os.Mkdir(stored, 0o755))
	if _, err := os.Stat(dir + "/cafe\u0301"); err == nil {
		assert.Equal(t, stored, storedSpelling(dir+"/cafe\u0301"))
		assert.Equal(t, stored+"/absent", storedSpelling(dir+"/CAF\u00c9/absent"))
	}
	assert.Equal(t, stored, storedSpelling(stored))
	assert.Equal(t, "/no/such/place", storedSpelling("/no/such/place"))
}
