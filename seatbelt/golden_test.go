package seatbelt

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/sbx-run/sbx/policy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldens are the profiles to read line by line when they change.
func goldens(t *testing.T) map[string]struct {
	e   policy.Effective
	run Run
} {
	entry := func(p string, a policy.Access, k policy.Kind, ft policy.FileType) policy.Entry {
		return policy.Entry{Path: p, Access: a, Kind: k, Type: ft, Rule: policy.Rule{Text: p}}
	}
	grant := func(p string, a policy.Access) policy.Entry { return entry(p, a, policy.Granted, policy.TypeDir) }
	private := []policy.Entry{
		entry("/Users/u", policy.None, policy.Private, policy.TypeDir),
		entry("/tmp", policy.None, policy.Private, policy.TypeDir),
		entry("/var/tmp", policy.None, policy.Private, policy.TypeDir),
		entry("/dev", policy.None, policy.Private, policy.TypeDir),
	}
	of := func(entries ...policy.Entry) policy.Effective {
		return policy.Effective{Area: policy.NewArea(append(private, entries...)...), Places: policy.Places{Home: "/Users/u"}}
	}
	with := func(e policy.Effective, change func(*policy.Effective)) policy.Effective {
		change(&e)
		return e
	}
	own := Run{Private: []string{"/private/var/folders/ab/T/sbx-1/home", "/private/var/folders/ab/T/sbx-1/tmp"}, Tag: "sbx-1"}
	project := of(grant("/Users/u/w", policy.ReadWrite))
	type golden = struct {
		e   policy.Effective
		run Run
	}
	return map[string]golden{
		"nothing":   {of(), Run{}},
		"no-system": {with(of(), func(e *policy.Effective) { e.System = policy.NoSystem }), Run{}},
		"project":   {project, own},
		"read-only": {of(grant("/Users/u/w", policy.Read)), own},
		"nested": {of(grant("/Users/u/w", policy.ReadWrite), grant("/Users/u/w/vendor", policy.Read),
			grant("/Users/u/w/vendor/build", policy.ReadWrite)), Run{}},
		"protected": {of(grant("/Users/u/w", policy.ReadWrite),
			entry("/Users/u/w/.git/hooks", policy.Read, policy.Protected, policy.TypeDir),
			entry("/Users/u/w/.envrc", policy.Read, policy.Protected, policy.TypeMissing),
			entry("/Users/u/w/.husky/_", policy.Read, policy.Protected, policy.TypeMissing)), Run{}},
		"denied":   {grants(t, "/Users/u/w/secrets/prod", ".env", "/Users/u/w/conf/*.pem", "/System/Library/Fonts"), Run{}},
		"drop-box": {of(grant("/Users/u/w", policy.Read), grant("/Users/u/w/out", policy.Write)), Run{}},
		"names": {of(grant(`/Users/u/my "w"\x`, policy.ReadWrite),
			entry("/Users/u/my \"w\"\\x/caf\u00e9", policy.None, policy.Hidden, policy.TypeDir),
			entry(`/Users/u/my "w"\x/a.b(c)`, policy.None, policy.Hidden, policy.TypeMissing)), Run{}},
		"root":           {of(grant("/", policy.ReadWrite), entry("/Users/u/.ssh", policy.None, policy.Hidden, policy.TypeDir)), own},
		"system-granted": {of(grant("/System", policy.Read)), Run{}},
		"network":        {with(project, func(e *policy.Effective) { e.Network.Mode = policy.NetworkOn }), own},
		"proxy":          {with(project, func(e *policy.Effective) { e.Network.Mode = policy.NetworkList }), Run{ProxyPort: 3128}},
		"host": {with(project, func(e *policy.Effective) { e.System = policy.HostSystem }),
			Run{Terminal: "/dev/ttys003", DeveloperDir: "/Applications/Xcode-26.app/Contents"}},
		"socket": {with(of(entry("/private/tmp/agent/ssh.sock", policy.Read, policy.Granted, policy.TypeSocket)), func(e *policy.Effective) {
			e.Sockets = policy.Sockets{Own: true, Paths: []string{"/private/tmp/agent/ssh.sock"}}
		}), own},
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	all := goldens(t)
	for name, g := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := mustRender(t, g.e, g.run)
			assert.Empty(t, compileProfile(t, p).Lint())
			file := filepath.Join("testdata", "golden", name+".sb")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(p.Text), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), p.Text)
		})
	}
	files, err := filepath.Glob("testdata/golden/*.sb")
	require.NoError(t, err)
	assert.Len(t, files, len(all), "a golden file without a test, or the other way round")
}
