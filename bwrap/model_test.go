package bwrap_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/policy"
)

// table is a toy of the kernel's mounts, filled by interpreting arguments. It
// knows nothing of layouts.
type table []mounted

type mounted struct {
	path     string
	host     bool // shows the host's file of the same path
	writable bool
}

// interpret carries bubblewrap's arguments out. Of options that mount it knows
// all that Args may use; any other word is an error.
func interpret(t *testing.T, args []string) table {
	t.Helper()
	mounts := table{{path: "/", writable: true}}
	closed := false // the mode of the next tmpfs keeps everybody from writing
	for i := 0; i < len(args); {
		option := args[i]
		value := func(n int) string { return args[i+n] }
		length := 2
		switch option {
		case "--unshare-user", "--unshare-all", "--disable-userns", "--die-with-parent", "--share-net", "--new-session":
			length = 1
		case "--cap-drop", "--hostname", "--size":
		case "--perms":
			closed = value(1) == "0555"
		case "--bind", "--ro-bind":
			length = 3
			require.Contains(t, []string{value(2), "/dev/null"}, value(1), "names are kept")
			mounts = append(mounts, mounted{path: value(2), host: value(1) != "/dev/null", writable: option == "--bind"})
		case "--tmpfs":
			mounts = append(mounts, mounted{path: value(1), writable: !closed})
			closed = false
		case "--dev", "--proc":
			mounts = append(mounts, mounted{path: value(1), writable: true})
		case "--symlink":
			length = 3
		case "--remount-ro":
			for j := len(mounts) - 1; ; j-- {
				require.GreaterOrEqual(t, j, 0, "remount of %s: not a mount", value(1))
				if mounts[j].path == value(1) {
					mounts[j].writable = false
					break
				}
			}
		default:
			require.Fail(t, "unknown option", option)
		}
		i += length
	}
	return mounts
}

// at returns the mount that is seen at p: the last one made on its way, since
// one made later on a directory above would cover it.
func (m table) at(p string) mounted {
	for _, one := range slices.Backward(m) {
		if policy.Contains(one.path, p) {
			return one
		}
	}
	return mounted{}
}

func (m table) isMountPoint(p string) bool { return m.at(p).path == p }

// generated is one random area with the paths to ask about.
type generated struct {
	entries []policy.Entry
	asked   []string
}

var modelNames = []string{"a", "b", "a.b", "a-", "c d"}

// generate makes an area over a few deep paths, so that entries nest. What
// lies above another entry is a directory.
func generate(seed uint64) generated {
	random := rand.New(rand.NewPCG(seed, 7))
	somewhere := func() string {
		p := []string{"/w", "/x", "/usr", "/home/u", ""}[random.IntN(5)]
		for range random.IntN(5) {
			p += "/" + modelNames[random.IntN(len(modelNames))]
		}
		if p == "" {
			return "/"
		}
		return p
	}
	var g generated
	for range 1 + random.IntN(9) {
		e := policy.Entry{Path: somewhere(), Access: policy.Access(1 + random.IntN(3)), Type: policy.TypeDir}
		switch e.Kind = policy.Kind(random.IntN(5)); e.Kind {
		case policy.Hidden, policy.Private:
			e.Access = policy.None
		case policy.System, policy.Protected:
			e.Access = policy.Read
		}
		if e.Path == "/" && e.Kind != policy.Granted {
			continue
		}
		if e.Kind != policy.Private && random.IntN(3) == 0 {
			e.Type = policy.TypeFile
		}
		if (e.Kind == policy.Hidden || e.Kind == policy.Protected) && random.IntN(4) == 0 {
			e.Type = policy.TypeMissing
		}
		g.entries = append(g.entries, e)
	}
	for i, e := range g.entries {
		for _, below := range g.entries {
			if below.Path != e.Path && policy.Contains(e.Path, below.Path) {
				g.entries[i].Type = policy.TypeDir
			}
		}
		g.asked = append(g.asked, e.Path, path.Join(e.Path, "new"), path.Join(path.Dir(e.Path), "beside"))
	}
	for range 20 {
		g.asked = append(g.asked, somewhere())
	}
	return g
}

const modelSeeds = 4000

// TestMountsAgreeWithPolicy: for generated areas, what the mounts show of the
// host is what the policy says, but for what a Layout lists as beyond mounts.
func TestMountsAgreeWithPolicy(t *testing.T) {
	asked, readable, writable, excused := 0, 0, 0, 0
	for seed := range uint64(modelSeeds) {
		g := generate(seed)
		e := of(g.entries...)
		layout, err := bwrap.NewLayout(e)
		require.NoError(t, err, "seed %d", seed)
		mounts := interpret(t, bwrap.Args(layout, bwrap.Options{Features: bwrap.AllFeatures()}))
		for _, p := range g.asked {
			if slices.ContainsFunc(layout.Absent, func(absent policy.Entry) bool { return policy.Contains(absent.Path, p) }) {
				excused++
				continue
			}
			at, want := mounts.at(p), e.Area.At(p)
			if want.Type == policy.TypeMissing && !(at.host && at.writable) {
				excused++ // not there, and the command cannot make it
				continue
			}
			asked++
			read := want.Access.Has(policy.Read) || slices.Contains(layout.WriteOnly, want.Path)
			assert.Equal(t, read, at.host, "seed %d: read %s\n%s", seed, p, describe(layout))
			assert.Equal(t, e.CanWrite(p), at.host && at.writable, "seed %d: write %s\n%s", seed, p, describe(layout))
			if at.host {
				readable++
			}
			if at.host && at.writable {
				writable++
			}
		}
		checkPins(t, e, mounts, seed)
		checkMinimal(t, layout, seed)
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d questions, %d readable, %d writable; %d about absent places", asked, readable, writable, excused)
	assert.Greater(t, readable, modelSeeds)
	assert.Greater(t, writable, modelSeeds)
}

// checkPins: no narrower place inside a writable one can be moved aside. It
// is a mount point, and so is every directory between it and the mount around.
func checkPins(t *testing.T, e policy.Effective, mounts table, seed uint64) {
	t.Helper()
	for _, entry := range e.Area.Entries() {
		around := e.Area.Above(entry.Path)
		if entry.Path == "/" || entry.Type == policy.TypeMissing || !around.Access.Has(policy.Write) || entry.Access.Has(policy.Write) {
			continue
		}
		outer := mounts.at(around.Path)
		if !outer.host || !outer.writable {
			continue
		}
		for p := entry.Path; p != around.Path; p = path.Dir(p) {
			assert.True(t, mounts.isMountPoint(p), "seed %d: %s can be moved with %s in it", seed, p, entry.Path)
		}
	}
}

// checkMinimal: no bind repeats what is there already. Pins do, on purpose.
func checkMinimal(t *testing.T, l bwrap.Layout, seed uint64) {
	t.Helper()
	writable := func(op bwrap.Op) bool { return op == bwrap.Bind || op == bwrap.Pin }
	for i, m := range l.Mounts {
		if m.Op != bwrap.ROBind && m.Op != bwrap.Bind {
			continue
		}
		for _, around := range slices.Backward(l.Mounts[:i]) {
			if around.Path != m.Path && policy.Contains(around.Path, m.Path) {
				same := around.Op == m.Op || writable(around.Op) && m.Op == bwrap.Bind
				assert.False(t, same, "seed %d: %s in %s\n%s", seed, m.Path, around.Path, describe(l))
				break
			}
		}
	}
}

// TestModelDiscriminates: the checks above fail for layouts that are wrong.
func TestModelDiscriminates(t *testing.T) {
	e := of(grant("/w", policy.ReadWrite), hidden("/w/a/.env", policy.TypeFile))
	layout, err := bwrap.NewLayout(e)
	require.NoError(t, err)
	args := func(l bwrap.Layout) []string { return bwrap.Args(l, bwrap.Options{Features: bwrap.AllFeatures()}) }
	assert.False(t, interpret(t, args(layout)).at("/w/a/.env").host)

	reversed := layout
	reversed.Mounts = slices.Clone(layout.Mounts)
	slices.Reverse(reversed.Mounts)
	assert.True(t, interpret(t, args(reversed)).at("/w/a/.env").host, "a mask before its bind is lost")

	unpinned := layout
	unpinned.Mounts = slices.DeleteFunc(slices.Clone(layout.Mounts), func(m bwrap.Mount) bool { return m.Op == bwrap.Pin })
	assert.False(t, interpret(t, args(unpinned)).isMountPoint("/w/a"))
	assert.True(t, interpret(t, args(layout)).isMountPoint("/w/a"))
	assert.Contains(t, strings.Join(args(layout), " "), fmt.Sprintf("--bind %[1]s %[1]s", "/w/a"))
}
