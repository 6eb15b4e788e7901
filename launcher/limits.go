package launcher

import (
	"strconv"

	"github.com/sbx-run/sbx/policy"
)

// Limits are spelled in messages as --limit takes them.

func memoryLimit(l policy.Limits) string    { return "memory=" + size(l.Memory) }
func processesLimit(l policy.Limits) string { return "processes=" + strconv.FormatInt(l.Processes, 10) }

// size spells bytes with the largest unit that leaves a whole number.
func size(n int64) string {
	for _, u := range []struct {
		name  string
		shift int
	}{{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}} {
		if n > 0 && n%(1<<u.shift) == 0 {
			return strconv.FormatInt(n>>u.shift, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
