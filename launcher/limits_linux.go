package launcher

import (
	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/launcher/stub"
	"github.com/sbx-run/sbx/policy"
)

// rlimits are the limits that the stub sets. Core dumps are always off: a
// handler named in core_pattern runs outside, as root, with the command's
// memory.
func rlimits(l policy.Limits) []stub.Rlimit {
	limits := []stub.Rlimit{{Resource: unix.RLIMIT_CORE, Value: 0}}
	add := func(resource int, value int64) {
		if value > 0 {
			limits = append(limits, stub.Rlimit{Resource: resource, Value: uint64(value)})
		}
	}
	add(unix.RLIMIT_CPU, int64(l.CPU.Seconds()))
	add(unix.RLIMIT_FSIZE, l.FileSize)
	add(unix.RLIMIT_NOFILE, l.OpenFiles)
	add(unix.RLIMIT_NPROC, l.Processes)
	return limits
}
