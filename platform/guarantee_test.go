package platform

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/policy"
)

func held(list []Guarantee) map[string]bool {
	m := map[string]bool{}
	for _, g := range list {
		m[g.Name] = g.Held
	}
	return m
}

func TestGuarantees(t *testing.T) {
	full := Plan{Backend: Bwrap, Features: bwrap.AllFeatures(), Landlock: landlock.Ruleset{Files: true}}
	noSize := full
	noSize.Features.Size = false
	noLandlock := full
	noLandlock.Landlock = landlock.Ruleset{}
	deny, err := policy.ParseDeny("*.pem", "/", "/home/u", policy.Rule{})
	require.NoError(t, err)
	patterns := full
	patterns.Effective.Denies = []policy.Deny{deny}

	for _, row := range []struct {
		name string
		plan Plan
		gaps []landlock.Gap
		lost []string
	}{
		{"bubblewrap with everything", full, nil, nil},
		{"bubblewrap without --size", noSize, nil, []string{GuaranteePrivate}},
		{"bubblewrap without Landlock", noLandlock, nil, []string{GuaranteeLateMounts}},
		{"a deny pattern", patterns, nil, []string{GuaranteeLater}},
		{"the built-in backend", Plan{Backend: Builtin}, nil,
			[]string{GuaranteeNames, GuaranteeMetadata, GuaranteeProtected, GuaranteePrivate, GuaranteeProcesses, GuaranteeKill}},
		{"the built-in backend before ABI 3", Plan{Backend: Builtin}, []landlock.Gap{{Name: landlock.GapTruncate, Needs: 3}},
			[]string{GuaranteeFiles, GuaranteeNames, GuaranteeMetadata, GuaranteeProtected, GuaranteePrivate, GuaranteeProcesses, GuaranteeKill}},
		{"unconfined", Plan{Backend: None}, nil, guaranteeNames()},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.plan.gaps = row.gaps
			list := row.plan.Guarantees()
			var lost []string
			for _, g := range list {
				assert.NotEmpty(t, g.Detail, g.Name)
				if !g.Held {
					lost = append(lost, g.Name)
				}
			}
			assert.ElementsMatch(t, row.lost, lost)
			assert.Len(t, held(list), len(promises))
		})
	}
}

func TestDemand(t *testing.T) {
	plan := Plan{Backend: Builtin}
	require.NoError(t, demand(plan, []string{GuaranteeFiles, GuaranteeNetwork}))

	var unavailable *policy.BackendUnavailableError
	require.ErrorAs(t, demand(plan, []string{GuaranteeNames}), &unavailable)
	assert.Equal(t, "guarantee hidden-names", unavailable.Needs)
	assert.NotEmpty(t, unavailable.Reason)

	require.ErrorAs(t, demand(plan, []string{"quiet"}), &unavailable)
	assert.Contains(t, unavailable.Hint(), GuaranteeKill)
}
