package policy

import "time"

// Limits bounds what a command may use up. The zero value of a field is "no
// limit of its own". Values only ever shrink in a derivation.
type Limits struct {
	Timeout   time.Duration // wall clock; then SIGTERM, a grace, SIGKILL to the whole tree
	CPU       time.Duration // processor time of each process (RLIMIT_CPU, whole seconds)
	Memory    int64         // bytes, of the whole tree
	Processes int64         // processes and threads of the sandbox
	OpenFiles int64         // descriptors of each process (RLIMIT_NOFILE)
	FileSize  int64         // bytes, of any file written (RLIMIT_FSIZE)
	Output    int64         // characters kept of each of stdout and stderr in a JSON result
	Tmp       int64         // bytes, of each private file system (/tmp, home)
	Strict    bool          // a limit that this machine cannot enforce is an error
}

// Meet returns the tighter of both limits, field by field.
func (l Limits) Meet(m Limits) Limits {
	return Limits{
		Timeout:   tighter(l.Timeout, m.Timeout),
		CPU:       tighter(l.CPU, m.CPU),
		Memory:    tighter(l.Memory, m.Memory),
		Processes: tighter(l.Processes, m.Processes),
		OpenFiles: tighter(l.OpenFiles, m.OpenFiles),
		FileSize:  tighter(l.FileSize, m.FileSize),
		Output:    tighter(l.Output, m.Output),
		Tmp:       tighter(l.Tmp, m.Tmp),
		Strict:    l.Strict || m.Strict,
	}
}

// tighter picks the smaller limit, where 0 is none at all.
func tighter[T ~int64](a, b T) T {
	switch {
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}
