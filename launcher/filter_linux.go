package launcher

import (
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/platform/seccomp"
	"github.com/sbx-run/sbx/policy"
)

// filter chooses the system call filter for a plan. Where the network is off
// bubblewrap gives the sandbox a network namespace with nothing but its own
// loopback, so the internet families stay open: servers under test need them.
// Without namespaces the filter alone keeps the network off.
func filter(plan platform.Plan) seccomp.Config {
	arch, _ := seccomp.Host() // the stub refuses an architecture without a table
	c := seccomp.Config{Arch: arch, Namespaced: plan.Backend == platform.Bwrap, UnixSockets: plan.Effective.Sockets.Any()}
	switch {
	case plan.Effective.Network.Mode == policy.NetworkOn:
		c.Network = seccomp.NetworkOn
	case c.Namespaced:
		c.Network = seccomp.NetworkProxy
	}
	return c
}
