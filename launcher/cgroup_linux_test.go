package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGroupParent finds the place for a group in the trees that systems have.
// In mountinfo T stands for the directory of the case.
func TestGroupParent(t *testing.T) {
	const (
		unified = "30 24 0:26 / T/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
		memory  = "31 24 0:27 / T/memory rw - cgroup cgroup rw,memory\n"
		both    = "32 24 0:28 / T/cpu,pids rw - cgroup cgroup rw,cpu,pids\n"
	)
	for _, row := range []struct {
		name, mounts, groups string
		dirs                 map[string]string // directory: its cgroup.subtree_control
		controllers          string
		want                 string
		version              int
	}{
		{"none mounted", "24 1 0:5 / / rw - ext4 /dev/x rw\n", "0::/\n", nil, "memory", "", 0},
		{"root of version 2", unified, "0::/\n", map[string]string{"cgroup": "cpu memory pids"}, "memory", "cgroup", 2},
		{"delegated ancestor", unified, "0::/user/app.slice/term.scope\n",
			map[string]string{"cgroup": "memory", "cgroup/user": "memory", "cgroup/user/app.slice": "memory pids", "cgroup/user/app.slice/term.scope": ""}, "pids", "cgroup/user/app.slice", 2},
		{"the nearest", unified, "0::/a/b\n", map[string]string{"cgroup": "memory", "cgroup/a": "memory", "cgroup/a/b": ""}, "memory", "cgroup/a", 2},
		{"without the controller", unified, "0::/a\n", map[string]string{"cgroup": "hugetlb", "cgroup/a": "hugetlb"}, "memory", "", 0},
		{"the nearest with both", unified, "0::/a/b\n", map[string]string{"cgroup": "memory pids", "cgroup/a": "memory", "cgroup/a/b": ""}, "memory,pids", "cgroup", 2},
		{"both nowhere", unified, "0::/a/b\n", map[string]string{"cgroup": "pids", "cgroup/a": "memory", "cgroup/a/b": ""}, "memory,pids", "", 0},
		{"both in version 1", memory + both, "3:cpu,pids:/x\n4:memory:/\n0::/\n", map[string]string{"memory": "", "cpu,pids/x": ""}, "memory,pids", "", 0},
		{"version 1", memory + both, "3:cpu,pids:/x\n4:memory:/\n0::/\n", map[string]string{"memory": "", "cpu,pids/x": ""}, "pids", "cpu,pids/x", 1},
		{"hybrid", unified + memory, "4:memory:/y\n0::/\n", map[string]string{"cgroup": "hugetlb", "memory/y": ""}, "memory", "memory/y", 1},
		{"part of the tree is mounted", strings.Replace(unified, " / T", " /box T", 1), "0::/box/in\n", map[string]string{"cgroup": "pids", "cgroup/in": ""}, "pids", "cgroup", 2},
		{"another part is mounted", strings.Replace(unified, " / T", " /box T", 1), "0::/elsewhere\n", map[string]string{"cgroup": "pids"}, "pids", "", 0},
		{"garbage", "x\n\n- -\n1 2 3 4 5 - cgroup2\n", "::\nx\n", nil, "pids", "", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			for d, control := range row.dirs {
				require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, d, "cgroup.subtree_control"), []byte(control), 0o644))
				require.NoError(t, os.WriteFile(filepath.Join(dir, d, "cgroup.procs"), nil, 0o644))
			}
			require.NoError(t, os.Mkdir(dir+"/proc", 0o755))
			require.NoError(t, os.WriteFile(dir+"/proc/mountinfo", []byte(strings.ReplaceAll(row.mounts, " T/", " "+dir+"/")), 0o644))
			require.NoError(t, os.WriteFile(dir+"/proc/cgroup", []byte(row.groups), 0o644))
			got, version := groupParent(dir+"/proc", strings.Split(row.controllers, ",")...)
			want := ""
			if row.want != "" {
				want = filepath.Join(dir, row.want)
			}
			assert.Equal(t, want, got)
			assert.Equal(t, row.version, version)
		})
	}
}

// TestGroupOverrun reads the counters of both versions.
func TestGroupOverrun(t *testing.T) {
	for _, row := range []struct {
		name, controller, file, content string
		version                         int
		over                            bool
	}{
		{"memory, version 2", "memory", "memory.events", "low 0\nmax 7\noom 1\noom_kill 1\n", 2, true},
		{"memory at its edge, version 2", "memory", "memory.events", "low 0\nmax 7\noom 0\noom_kill 0\n", 2, false},
		{"memory, version 1", "memory", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", 1, true},
		{"memory left, version 1", "memory", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n", 1, false},
		{"processes", "pids", "pids.events", "max 3\n", 1, true},
		{"processes left", "pids", "pids.events", "max 0\n", 2, false},
		{"no counter", "pids", "other", "", 2, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, row.file), []byte(row.content), 0o644))
			g := &cgroup{dirs: map[string]groupDir{row.controller: {path: dir, version: row.version}}}
			l := limitsOf(64<<20, 8)
			limit := g.overrun(l)
			assert.Equal(t, row.over, limit != "")
			if row.over {
				assert.Contains(t, []string{"memory=64MiB", "processes=8"}, limit)
			}
		})
	}
	assert.Empty(t, (*cgroup)(nil).overrun(limitsOf(1, 1)))
}

// TestGroupFull tells a group that has nothing left to give from one that is
// merely busy with files.
func TestGroupFull(t *testing.T) {
	const limit = 64 << 20
	for _, row := range []struct {
		name                   string
		current, files, shared int
		hits                   int // times that the limit was met
		full                   bool
	}{
		{"all of it held", limit - 4096, 4096, 0, 3, true},
		{"held in memory files", limit - 4096, limit - 8192, limit - 8192, 3, true},
		{"mostly files", limit - 4096, 40 << 20, 0, 3, false},
		{"room left", limit - 8<<20, 0, 0, 3, false},
		{"never met", limit - 4096, 0, 0, 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			for version, files := range map[int]map[string]string{
				1: {"memory.usage_in_bytes": fmt.Sprintln(row.current), "memory.failcnt": "0\n", "memory.memsw.failcnt": fmt.Sprintln(row.hits),
					"memory.stat": fmt.Sprintf("cache %d\nrss 1\nshmem %d\n", row.files, row.shared)},
				2: {"memory.current": fmt.Sprintln(row.current), "memory.events": fmt.Sprintf("low 0\nmax %d\noom 0\n", row.hits),
					"memory.stat": fmt.Sprintf("anon 1\nfile %d\nshmem %d\n", row.files, row.shared)},
			} {
				dir := t.TempDir()
				for name, content := range files {
					require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
				}
				g := &cgroup{dirs: map[string]groupDir{"memory": {path: dir, version: version}}}
				assert.Equal(t, row.full, g.full(limitsOf(limit, 0)), "version %d", version)
			}
		})
	}
	assert.False(t, (*cgroup)(nil).full(limitsOf(limit, 0)))
}
