package stage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestVerify holds steps against what this process sees itself: /proc is
// mounted on every machine that runs this.
func TestVerify(t *testing.T) {
	root, err := openRoot(os.Getpid())
	require.NoError(t, err)
	defer unix.Close(root)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Symlink("/proc", dir+"/link"))
	proc, err := find(root, "proc")
	require.NoError(t, err)
	defer unix.Close(proc)
	is, _, err := Identify(proc)
	require.NoError(t, err)
	other := is
	other.Ino++
	for _, row := range []struct {
		name, wrong string
		step        Step
	}{
		{"as planned", "", Step{Op: ShowRW, Path: "/proc", Shown: is}},
		{"another file", "another file", Step{Op: ShowRW, Path: "/proc", Shown: other}},
		{"writable", "writable, against the plan", Step{Op: ShowRO, Path: "/proc", Shown: is}},
		{"no mask", "writable, against the plan", Step{Op: MaskDir, Path: "/proc"}},
		{"not the sandbox's own", "not an empty file system", Step{Op: Tmpfs, Path: "/proc"}},
		{"not mounted", "nothing is mounted", Step{Op: ShowRW, Path: dir, Shown: is}},
		{"a link to it", "symbolic links", Step{Op: ShowRW, Path: dir + "/link", Shown: is}},
		{"gone", "no such file", Step{Op: ShowRW, Path: dir + "/gone", Shown: is}},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := verify(root, []Step{{Op: ShowRW, Path: "/proc", Shown: is}, row.step})
			if row.wrong == "" {
				assert.NoError(t, err)
				return
			}
			var f *Failure
			require.ErrorAs(t, err, &f)
			assert.Equal(t, row.step.Path, f.Path)
			assert.Contains(t, f.Text, row.wrong)
		})
	}
}
