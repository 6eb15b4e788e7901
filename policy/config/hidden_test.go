package config_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

// bounds is what TestHiddenPolicies compares.
type bounds struct {
	denies  []string
	timeout time.Duration
	protect policy.Protect
	system  policy.SystemBase
	count   int64 // of attachments
	sources []string
}

// TestHiddenPolicies: what the nearest file hides goes on to bind it, as far
// as a policy that stands alone. Without trusting anything the file of
// /a/b counts for itself, bound by /a and then by the user's.
func TestHiddenPolicies(t *testing.T) {
	dir := tree(t, map[string]string{
		"user/config.yaml": "sandbox: {deny: [u], limits: {timeout: 20s}}\n",
		"a/sbx.yaml":       "sandbox: {root: ., deny: [x], system: none, protect: strict, limits: {timeout: 30s}}\nattachments: {max_count: 3}\n",
		"a/b/program.yaml": "sandbox: {root: ., deny: [y], limits: {timeout: 1m}}\n",
		"a/b/c/":           "",
	})
	for _, row := range []struct {
		name    string
		flags   config.Flags
		trusted string
		want    bounds
	}{
		{"nothing trusted", config.Flags{}, "", bounds{[]string{"y", "x", "u"}, 20 * time.Second, policy.ProtectStrict, policy.NoSystem, 3,
			[]string{"b/program.yaml", "bounds of a/sbx.yaml", "bounds of user/config.yaml"}}},
		{"the one behind it stands alone", config.Flags{}, "a/sbx.yaml", bounds{[]string{"y", "x"}, 30 * time.Second, policy.ProtectStrict, policy.NoSystem, 3,
			[]string{"b/program.yaml", "bounds of a/sbx.yaml"}}},
		{"it stands alone", config.Flags{}, "a/b/program.yaml", bounds{[]string{"y"}, time.Minute, policy.ProtectExisting, policy.Minimal, 0,
			[]string{"b/program.yaml"}}},
		{"it is named", config.Flags{Config: "../program.yaml"}, "", bounds{[]string{"y"}, time.Minute, policy.ProtectExisting, policy.Minimal, 0,
			[]string{"../program.yaml"}}},
		{"flags are the user's", config.Flags{Limits: []string{"timeout=5m"}, Protect: "existing", System: "minimal"}, "",
			bounds{[]string{"y", "x", "u"}, 5 * time.Minute, policy.ProtectExisting, policy.Minimal, 3,
				[]string{"b/program.yaml", "bounds of a/sbx.yaml", "bounds of user/config.yaml", "--limit timeout=5m", "--system minimal", "--protect existing"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			host := hostAt(dir+"/a/b/c", dir+"/home", nil)
			host.UserFile = dir + "/user/config.yaml"
			host.Trusted = func(p, _ string) bool { return p == dir+"/"+row.trusted }
			l, err := config.Load(row.flags, host)
			require.NoError(t, err)
			e := l.Sandbox.Effective()
			got := bounds{timeout: e.Limits.Timeout, protect: e.Protect, system: e.System}
			for _, d := range e.Denies {
				got.denies = append(got.denies, d.Written)
			}
			if l.Attachments != nil {
				got.count = l.Attachments.MaxCount.V
			}
			for _, s := range e.Sources {
				got.sources = append(got.sources, strings.Replace(strings.Replace(s, dir+"/a/b/", "b/", 1), dir+"/", "", 1))
			}
			assert.Equal(t, row.want, got)
		})
	}
}

// TestHiddenPolicyOfAnother: what another user has put above does not bind,
// as it would not count without the file either. Only root can show that.
func TestHiddenPolicyOfAnother(t *testing.T) {
	dir := tree(t, map[string]string{"sbx.yaml": "sandbox: {root: ., deny: ['*']}\n", "sub/sbx.yaml": ownRoot, "sub/f": ""})
	foreign := os.Getuid() == 0
	if foreign {
		require.NoError(t, os.Chown(dir+"/sbx.yaml", 65534, 65534))
	}
	host := hostAt(dir+"/sub", dir+"/home", nil)
	l, err := config.Load(config.Flags{}, host)
	require.NoError(t, err)
	assert.Equal(t, foreign, l.Sandbox.CanRead("/f"), "in the root form /f is the file of the root")
	host.Trusted = func(p, _ string) bool { return p == dir+"/sbx.yaml" }
	l, err = config.Load(config.Flags{}, host)
	require.NoError(t, err)
	assert.False(t, l.Sandbox.CanRead("/f"))
}

// TestHiddenPolicyThatCannotBeAdded: each row hides something that only a
// trusted file may take away. The control arm is the same file, trusted.
func TestHiddenPolicyThatCannotBeAdded(t *testing.T) {
	for name, tt := range map[string]struct {
		outer, inner string
		flags        config.Flags
		want         string // "" is nothing
	}{
		"read-only within":        {outer: "sandbox: {paths: {in: {root: ./sub/in}}}\n", inner: ownRoot, want: "to write ./sub/in, which OUTER shows read-only"},
		"read-only itself":        {outer: "sandbox: {paths: {in: {root: ./sub}}}\n", inner: ownRoot, want: "to write ./sub, which OUTER shows read-only"},
		"a preset more":           {outer: ownRoot, inner: "sandbox: {root: ., presets: [git]}\n", want: "preset git, which OUTER does without"},
		"the same preset":         {outer: "sandbox: {root: ., presets: [go, git]}\n", inner: "sandbox: {root: ., presets: [git]}\n"},
		"and here too":            {outer: "sandbox: {paths: {in: {root: ./sub/in}}}\n", inner: "sandbox: {paths: {all: {root: ., mode: rw}, in: {root: ./in}}}\n"},
		"all of it read-only":     {outer: "sandbox: {root: ., readonly: true}\n", inner: ownRoot},
		"missing":                 {outer: "sandbox: {paths: {in: {root: ./sub/none, optional: true}}}\n", inner: ownRoot},
		"elsewhere":               {outer: "sandbox: {paths: {in: {root: ./other}}}\n", inner: ownRoot},
		"suffixes":                {outer: "sandbox: {paths: {all: {root: ., suffixes: [.md, .txt]}}}\n", inner: ownRoot, want: "to drop the rules of OUTER for the files in ."},
		"fewer suffixes":          {outer: "sandbox: {paths: {all: {root: ., suffixes: [.md, .txt]}}}\n", inner: "sandbox: {paths: {all: {root: ., suffixes: [.md]}}}\n"},
		"size":                    {outer: "sandbox: {paths: {all: {root: ., max_file_bytes: 5}}}\n", inner: "sandbox: {paths: {all: {root: ., max_file_bytes: 6}}}\n", want: "to drop the rules of OUTER for the files in ."},
		"approval":                {outer: "sandbox: {paths: {all: {root: ., read_approval: true}}}\n", inner: ownRoot, want: "to drop the rules of OUTER for the files in ."},
		"attachments":             {outer: ownRoot + "attachments: {max_count: 3}\n", inner: ownRoot + "attachments: {max_count: 9}\n", want: "attachments other than those of OUTER"},
		"worker":                  {outer: ownRoot + "workers: {aa: {readonly: true}}\n", inner: ownRoot + "workers: {aa: {inherit: true}}\n", flags: config.Flags{Worker: "aa"}, want: "a worker aa other than that of OUTER"},
		"worker that is not used": {outer: ownRoot + "workers: {aa: {readonly: true}}\n", inner: ownRoot + "workers: {aa: {inherit: true}}\n"},
		"a fault":                 {outer: "sandbx: 1\n", inner: ownRoot, want: "to hide a faulty policy, which is to be mended first (OUTER:1:1: unknown key \"sandbx\")"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{"sbx.yaml": tt.outer, "sub/sbx.yaml": tt.inner, "sub/in/": "", "other/": ""})
			host := hostAt(dir+"/sub", dir+"/home", nil)
			_, err := config.Load(tt.flags, host)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			var refused *config.TrustError
			require.ErrorAs(t, err, &refused)
			var needs []string
			for _, n := range refused.Needs {
				needs = append(needs, strings.ReplaceAll(n.What, dir+"/sbx.yaml", "OUTER"))
			}
			assert.True(t, slices.Contains(needs, tt.want), "%q", needs)
			host.Trusted = func(p, _ string) bool { return p == dir+"/sub/sbx.yaml" }
			_, err = config.Load(tt.flags, host)
			assert.NoError(t, err)
		})
	}
}
