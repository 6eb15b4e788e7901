package platform

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
)

func TestVerdictOnTrial(t *testing.T) {
	for _, tc := range []struct {
		name   string
		code   int
		stderr string
		shown  bool
		want   string // "" is usable
	}{
		{"it ran", 0, "", true, ""},
		{"nested", 71, "sandbox-exec: sandbox_apply: Operation not permitted\n", true, "runs inside a sandbox already"},
		{"nested, without a base", 71, "sandbox-exec: sandbox_apply: Operation not permitted\n", false, "runs inside a sandbox already"},
		{"refused", 65, "sandbox-exec: line 3: unbound variable: alow\n", true, "refuses the profile: line 3: unbound variable: alow"},
		{"abort", 134, "", true, "programs abort at their start"},
		{"abort without a base", 134, "", false, ""},
		{"no exec", 71, "sandbox-exec: execvp() of '/usr/bin/true' failed: Operation not permitted\n", true, "does not let /usr/bin/true run"},
		{"no exec without a base", 71, "sandbox-exec: execvp() of '/usr/bin/true' failed: Operation not permitted\n", false, ""},
		{"something else", 1, "sandbox-exec: no memory\n", true, "a trial run failed: no memory"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := verdictOn(tc.code, tc.stderr, tc.shown)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			var unavailable *policy.BackendUnavailableError
			require.ErrorAs(t, err, &unavailable)
			assert.Contains(t, err.Error(), tc.want)
			assert.Equal(t, "seatbelt", unavailable.Backend)
		})
	}
}

func TestDeveloperContents(t *testing.T) {
	for given, want := range map[string]string{
		"":                                    "",
		"/Library/Developer/CommandLineTools": "",
		"/Applications/Xcode-26.app/Contents/Developer": "/Applications/Xcode-26.app/Contents",
		"/Users/u/tools/Xcode.app/Contents/Developer/":  "/Users/u/tools/Xcode.app/Contents/Developer/",
		"/opt/developer": "/opt/developer",
		"/Library/Developer/CommandLineTools/SDKs/MacOSX.sdk": "",
	} {
		assert.Equal(t, want, developerContents(given), given)
	}
}

func TestSeatbeltGuarantees(t *testing.T) {
	pattern, err := policy.ParseDeny("*.pem", "/", "/home/u", policy.Rule{})
	require.NoError(t, err)
	plan := Plan{Backend: Seatbelt, Effective: policy.Effective{Denies: []policy.Deny{pattern}}}
	held := func(plan Plan) map[string]bool {
		m := map[string]bool{}
		for _, g := range plan.Guarantees() {
			m[g.Name] = g.Held
			assert.NotEmpty(t, g.Detail, g.Name)
		}
		return m
	}
	got := held(plan)
	for _, name := range []string{GuaranteeFiles, GuaranteeMetadata, GuaranteeDenies, GuaranteeLater, GuaranteeProtected, GuaranteeNetwork, GuaranteeSockets, GuaranteeProcesses} {
		assert.True(t, got[name], name)
	}
	for _, name := range []string{GuaranteeNames, GuaranteePrivate, GuaranteeKill, GuaranteeSyscalls, GuaranteeIPC} {
		assert.False(t, got[name], name)
	}
	plan.Partial = []policy.Deny{pattern}
	assert.False(t, held(plan)[GuaranteeLater], "a pattern without an expression")
	require.Error(t, demand(plan, []string{GuaranteeKill}))
}
