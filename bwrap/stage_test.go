package bwrap_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/policy"
)

// TestStage: what is staged and where it is attached, for layouts of each
// shape.
func TestStage(t *testing.T) {
	many := func(entries ...policy.Entry) policy.Effective { return of(base(entries...)...) }
	for _, row := range []struct {
		name      string
		effective policy.Effective
		sites     []string
		in        map[string]string // place of the mount point, by mount
		own       []string          // mounts that stay bubblewrap's
		noPoint   []string
	}{
		{"bare directories are staged with what lies in them", many(grant("/w/a", policy.Read), grant("/w/b/c", policy.ReadWrite)),
			[]string{"/etc", "/home", "/tmp", "/w"},
			map[string]string{"/w/a": "/", "/w/b/c": "/", "/tmp": "/", "/etc/hosts": "/"}, []string{"/dev", "/proc", "/usr"}, nil},
		{"in private places", many(grant("/home/u/a", policy.Read), grant("/home/u/a/b", policy.ReadWrite), grant("/tmp/c", policy.Read)),
			[]string{"/etc", "/home", "/tmp"},
			map[string]string{"/home/u/a": "/home/u", "/home/u/a/b": "", "/tmp/c": "/tmp"}, nil, nil},
		{"masks and pins lie in the host's directories", many(grant("/w", policy.ReadWrite), hidden("/w/a/key", policy.TypeFile)),
			[]string{"/etc", "/home", "/tmp", "/w"},
			map[string]string{"/w": "/", "/w/a": "", "/w/a/key": ""}, nil, nil},
		{"in the host's root", many(grant("/", policy.ReadWrite), hidden("/w/a/key", policy.TypeFile)),
			[]string{"/etc", "/home", "/tmp", "/usr", "/w"}, nil, []string{"/", "/dev", "/proc"}, nil},
		{"around and below /dev", many(grant("/dev/dri", policy.ReadWrite), grant("/w/a", policy.Read)),
			[]string{"/etc", "/home", "/tmp", "/w"}, nil, []string{"/dev", "/dev/dri", "/dev/shm"}, nil},
		{"a file in the root", many(entry("/file", policy.Read, policy.Granted, policy.TypeFile)),
			[]string{"/etc", "/home", "/tmp"}, nil, []string{"/file"}, nil},
		{"a place to build in is one that is not shown", many(grant("/sys/block", policy.Read), grant("/run", policy.Read), grant("/mnt/a/b", policy.Read)),
			[]string{"/etc", "/home", "/mnt", "/sys", "/tmp"}, nil, []string{"/run"}, []string{"/sys", "/run", "/mnt"}},
		{"nothing fits into a mask", many(grant("/w", policy.ReadWrite), hidden("/w/a", policy.TypeDir), grant("/w/a/b", policy.Read)),
			nil, nil, []string{"/w/a/b", "/usr"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			layout, err := bwrap.NewLayout(row.effective)
			require.NoError(t, err)
			stage := bwrap.NewStage(layout)
			assert.ElementsMatch(t, row.sites, stage.Sites, describe(layout))
			for _, m := range stage.Mounts {
				if want, ok := row.in[layout.Mounts[m.Index].Path]; ok {
					assert.Equal(t, want, m.In, layout.Mounts[m.Index].Path)
				}
			}
			for i, m := range layout.Mounts {
				if slices.Contains(row.own, m.Path) {
					assert.False(t, stage.Holds(i), m.Path)
				}
			}
			for _, p := range row.noPoint {
				assert.NotContains(t, stage.Points, p)
			}
		})
	}
}

// TestWorth: few mounts stay bubblewrap's, and no layout that is left to it
// for its size alone needs more arguments than it takes.
func TestWorth(t *testing.T) {
	for _, row := range []struct {
		name  string
		count int
		entry func(i int) policy.Entry
		want  bool
	}{
		{"a few grants", 10, func(i int) policy.Entry { return grant(fmt.Sprintf("/r/%d", i), policy.ReadWrite) }, false},
		{"many grants", 100, func(i int) policy.Entry { return grant(fmt.Sprintf("/r/%d", i), policy.ReadWrite) }, true},
		{"many file masks", 100, func(i int) policy.Entry { return hidden(fmt.Sprintf("/w/%d", i), policy.TypeFile) }, true},
		{"directory masks are cheap", 100, func(i int) policy.Entry { return hidden(fmt.Sprintf("/w/%d", i), policy.TypeDir) }, false},
		{"but not for nothing", 1000, func(i int) policy.Entry { return hidden(fmt.Sprintf("/w/%d", i), policy.TypeDir) }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			entries := base(grant("/w", policy.Read))
			for i := range row.count {
				entries = append(entries, row.entry(i))
			}
			layout, err := bwrap.NewLayout(of(entries...))
			require.NoError(t, err)
			assert.Equal(t, row.want, bwrap.Worth(layout))
			args := bwrap.Args(layout, bwrap.Options{Features: bwrap.AllFeatures(), FD: descriptors(layout)})
			assert.True(t, row.want || len(args) < bwrap.MaxArgs/4)
		})
	}
}

// TestStageAgreesWithLayout: for generated areas, bubblewrap's part with the
// trees attached shows the same as the whole layout made by bubblewrap.
func TestStageAgreesWithLayout(t *testing.T) {
	staged := 0
	for seed := range uint64(modelSeeds) {
		g := generate(seed)
		layout, err := bwrap.NewLayout(of(append(g.entries, private("/dev"), private("/proc"))...))
		require.NoError(t, err, "seed %d", seed)
		stage := bwrap.NewStage(layout)
		staged += len(stage.Mounts)
		plain := interpret(t, bwrap.Args(layout, bwrap.Options{Features: bwrap.AllFeatures()}))
		split := interpret(t, withoutDirs(bwrap.Args(layout, bwrap.Options{Features: bwrap.AllFeatures(), Stage: stage})))
		split = attachTrees(t, split, layout, stage)
		for _, p := range g.asked {
			want, got := plain.at(p), split.at(p)
			assert.Equal(t, want.host, got.host, "seed %d: %s\n%s", seed, p, describe(layout))
			assert.Equal(t, want.writable, got.writable, "seed %d: %s\n%s", seed, p, describe(layout))
		}
		for _, m := range plain {
			assert.True(t, split.isMountPoint(m.path), "seed %d: %s\n%s", seed, m.path, describe(layout))
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	assert.Greater(t, staged, modelSeeds)
}

// withoutDirs drops the mount points: the model needs none.
func withoutDirs(args []string) (rest []string) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--dir" {
			i++
			continue
		}
		rest = append(rest, args[i])
	}
	return rest
}

// attachTrees adds the trees to the mounts, and checks what the kernel would
// on the way: a mount point in memory is where nothing of the host shows.
func attachTrees(t *testing.T, mounts table, l bwrap.Layout, stage bwrap.Stage) table {
	t.Helper()
	left := slices.Clone(stage.Mounts)
	for _, site := range stage.Sites {
		assert.Equal(t, stage.Root >= 0, mounts.at(site).host, "%s is attached among %s", site, describe(l))
		if stage.Root < 0 {
			require.Equal(t, "/", path.Dir(site))
			mounts = append(mounts, mounted{path: site})
		}
		left = slices.DeleteFunc(left, func(s bwrap.Staged) bool {
			m := l.Mounts[s.Index]
			if !policy.Contains(site, m.Path) {
				return false
			}
			assert.Equal(t, s.In == "", mounts.at(m.Path).host, "%s in %q of\n%s", m.Path, s.In, describe(l))
			if s.In != "" && s.In != "/" {
				assert.Equal(t, s.In, mounts.at(m.Path).path)
			}
			switch m.Op {
			case bwrap.Bind, bwrap.Pin:
				mounts = append(mounts, mounted{path: m.Path, host: true, writable: true})
			case bwrap.ROBind, bwrap.Copy:
				mounts = append(mounts, mounted{path: m.Path, host: true})
			case bwrap.Tmpfs:
				mounts = append(mounts, mounted{path: m.Path, writable: true})
			case bwrap.MaskDir, bwrap.MaskFile:
				mounts = append(mounts, mounted{path: m.Path})
			}
			return true
		})
	}
	assert.Empty(t, left, "in no tree of %s", strings.Join(stage.Sites, " "))
	return mounts
}

// TestPinnedLinks: bubblewrap's part has none of them, and a stage holds those
// that it has a place for.
func TestPinnedLinks(t *testing.T) {
	layout, err := bwrap.NewLayout(of(base(grant("/w", policy.ReadWrite))...))
	require.NoError(t, err)
	assert.False(t, layout.PinsLinks())
	pinning := func(p string) bwrap.Layout {
		l := layout
		l.Mounts = append(slices.Clone(layout.Mounts), bwrap.Mount{Op: bwrap.PinLink, Path: p, Target: "x", Type: policy.TypeFile})
		return l
	}
	below := pinning("/w/.vscode")
	stage := bwrap.NewStage(below)
	assert.True(t, bwrap.Worth(below), "few as the mounts are")
	assert.True(t, stage.HoldsLinks(below))
	assert.NotContains(t, bwrap.Args(below, bwrap.Options{Features: bwrap.AllFeatures(), Stage: stage}), "/w/.vscode")
	assert.NotContains(t, bwrap.Args(below, bwrap.Options{Features: bwrap.AllFeatures()}), "/w/.vscode")

	top := pinning("/.vscode")
	assert.False(t, bwrap.NewStage(top).HoldsLinks(top), "no tree begins in the root itself")
	assert.Equal(t, layout, top.Without(func(m bwrap.Mount) bool { return m.Op == bwrap.PinLink }))
}
