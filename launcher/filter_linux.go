package launcher

import (
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/platform/seccomp"
	"github.com/sbx-run/sbx/policy"
)

// filter chooses the system call filter for a plan. With the network off the
// sandbox has a network namespace with nothing but its own loopback, so the
// internet families stay open: servers under test need them.
func filter(plan platform.Plan) (seccomp.Config, error) {
	arch, err := seccomp.Host()
	network := seccomp.NetworkProxy
	if plan.Effective.Network.Mode == policy.NetworkOn {
		network = seccomp.NetworkOn
	}
	return seccomp.Config{Arch: arch, Network: network, Namespaced: true}, err
}
