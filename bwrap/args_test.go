package bwrap_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/policy"
)

// descriptors numbers the mounts that need one, as a launch does.
func descriptors(l bwrap.Layout) func(int) int {
	return func(i int) int {
		n := 10
		for _, m := range l.Mounts[:i] {
			if m.Op.FromHost() || m.Op == bwrap.MaskFile {
				n++
			}
		}
		return n
	}
}

// TestFeatures: an older bubblewrap gets the same mounts by the options that
// it has.
func TestFeatures(t *testing.T) {
	layout, err := bwrap.NewLayout(of(base(grant("/w", policy.ReadWrite), hidden("/w/.env", policy.TypeFile), hidden("/w/keys", policy.TypeDir), protected("/w/.git/hooks", policy.TypeDir))...))
	require.NoError(t, err)
	for name, f := range map[string]bwrap.Features{
		"all":              bwrap.AllFeatures(),
		"no-bind-fd":       {DisableUserns: true, Size: true, Perms: true},
		"no-size":          {BindFD: true, DisableUserns: true, Perms: true},
		"no-perms":         {BindFD: true, DisableUserns: true, Size: true},
		"no-disableuserns": {BindFD: true, Size: true, Perms: true},
		"none":             {},
	} {
		t.Run(name, func(t *testing.T) {
			args := bwrap.Args(layout, bwrap.Options{Features: f, FD: descriptors(layout), NewSession: true})
			compareGolden(t, "features-"+name+".golden", lines(args))
		})
	}
}

func TestOptions(t *testing.T) {
	layout, err := bwrap.NewLayout(of())
	require.NoError(t, err)
	for _, tc := range []struct {
		name      string
		o         bwrap.Options
		with, not []string
	}{
		{"nothing", bwrap.Options{}, []string{"--unshare-all", "--die-with-parent", "--cap-drop ALL", "--remount-ro /"}, []string{"--share-net", "--new-session", "--chdir", "--disable-userns"}},
		{"network", bwrap.Options{ShareNet: true}, []string{"--share-net"}, nil},
		{"a session of its own", bwrap.Options{NewSession: true}, []string{"--new-session"}, nil},
		{"directory", bwrap.Options{Chdir: "/w"}, []string{"--chdir /w"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := lines(bwrap.Args(layout, tc.o))
			for _, option := range tc.with {
				assert.Contains(t, got, option+"\n")
			}
			for _, option := range tc.not {
				assert.NotContains(t, got, option)
			}
		})
	}
	args := bwrap.Args(layout, bwrap.Options{ShareNet: true})
	assert.Less(t, slices.Index(args, "--unshare-all"), slices.Index(args, "--share-net"), "sharing comes after unsharing all")
}

// TestRemountOrder: what is closed at the end is closed after everything that
// has to be made in it.
func TestRemountOrder(t *testing.T) {
	for name, e := range cases() {
		layout, err := bwrap.NewLayout(e)
		require.NoError(t, err)
		args := bwrap.Args(layout, bwrap.Options{Features: bwrap.AllFeatures()})
		first := slices.Index(args, "--remount-ro")
		for _, option := range args[first:] {
			if strings.HasPrefix(option, "--") {
				assert.Contains(t, []string{"--remount-ro", "--bind"}, option, name) // --bind: a name in odd-names
			}
		}
		if !layout.RootWritable() {
			assert.Equal(t, []string{"--remount-ro", "/"}, args[len(args)-2:], name)
		}
	}
}

// TestBindsAreLinear: a place that shows right already gets no mount.
func TestBindsAreLinear(t *testing.T) {
	entries := []policy.Entry{grant("/w", policy.ReadWrite)}
	for i := range 100 {
		entries = append(entries, protected(fmt.Sprintf("/w/r%d/.git/hooks", i), policy.TypeDir), protected(fmt.Sprintf("/w/r%d/.git/config", i), policy.TypeFile))
	}
	layout, err := bwrap.NewLayout(of(entries...))
	require.NoError(t, err)
	assert.Len(t, layout.Mounts, 1+100*4, "two pins and two binds for each repository")
}
