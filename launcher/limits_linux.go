package launcher

import (
	"bytes"
	"cmp"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/launcher/stub"
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// rlimits are the limits that the stub sets. Core dumps are always off: a
// handler named in core_pattern runs outside, as root, with the command's
// memory. A second of CPU time is left after SIGXCPU, which names the reason,
// before SIGKILL.
func rlimits(plan platform.Plan) []stub.Rlimit {
	l := plan.Effective.Limits
	limits := []stub.Rlimit{{Resource: unix.RLIMIT_CORE, Value: 0}}
	add := func(resource int, value, margin int64) {
		if value > 0 {
			limits = append(limits, stub.Rlimit{Resource: resource, Value: uint64(value), Margin: uint64(margin)})
		}
	}
	add(unix.RLIMIT_CPU, int64(l.CPU.Seconds()), 1)
	add(unix.RLIMIT_FSIZE, l.FileSize, 0)
	add(unix.RLIMIT_NOFILE, l.OpenFiles, 0)
	add(unix.RLIMIT_NPROC, processCap(plan), 0)
	return limits
}

// processCap is the RLIMIT_NPROC for a limit of processes. In bubblewrap's
// user namespace it counts the sandbox alone (Linux 5.14): its process 1, what
// the limit allows, and one more, by which the overrun shows. Without a user
// namespace it counts all that the user runs, so there it is no more than a
// backstop, far above; the watch keeps the limit. The kernel exempts root
// from it.
func processCap(plan platform.Plan) int64 {
	n := plan.Effective.Limits.Processes
	switch {
	case n <= 0:
		return 0
	case plan.Backend == platform.Bwrap:
		return n + 2
	}
	return n + tasksOfMachine() + 256
}

// tasksOfMachine is the second number of the fourth field of /proc/loadavg.
func tasksOfMachine() int64 {
	b, _ := os.ReadFile("/proc/loadavg")
	fields := bytes.Fields(b)
	if len(fields) < 4 {
		return 0
	}
	_, all, _ := strings.Cut(string(fields[3]), "/")
	n, _ := strconv.ParseInt(all, 10, 64)
	return n
}

// bounds is how the limits of one run are kept beyond rlimits: by control
// groups where this process may make them, else by watching.
type bounds struct {
	plan   platform.Plan
	limits policy.Limits // of the plan
	group  *cgroup       // nil without one
	watch  struct{ memory, processes, tmp bool }
	alone  bool     // nothing but the watch counts processes
	full   int      // looks in a row that have found the memory used up
	gaps   []string // what the kernel does not keep here
	met    string   // the limit that the kernel has acted upon; see settle
}

// boundsFor finds out who keeps which limit, and makes the control group. It
// fails where the policy is strict and the kernel would not keep one.
func boundsFor(plan platform.Plan) (*bounds, error) {
	l := plan.Effective.Limits
	b := &bounds{plan: plan, limits: l}
	if l.Memory > 0 || l.Processes > 0 {
		b.group = newGroup(l, l.Memory > 0 || !countsProcesses(plan))
	}
	if err := b.assign(); err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

// giveUp goes on without the group: who has made a scope may still refuse to
// put the command there.
func (b *bounds) giveUp() error {
	b.release()
	b.group = nil
	return b.assign()
}

// countsProcesses reports whether RLIMIT_NPROC keeps the limit; see processCap.
func countsProcesses(plan platform.Plan) bool {
	return plan.Backend == platform.Bwrap && os.Getuid() != 0
}

// assign has watched what the kernel does not keep, and says so.
func (b *bounds) assign() error {
	l, plan := b.limits, b.plan
	b.gaps = nil
	const sampled = " is watched: sbx ends the run within a second, and a short burst may pass"
	if l.Memory > 0 && !b.group.keeps("memory") {
		b.watch.memory = true
		b.gaps = append(b.gaps, "limit memory="+size(l.Memory)+sampled+"; a control group that sbx may use closes this")
	}
	if l.Processes > 0 && !b.group.keeps("pids") {
		b.watch.processes = true
		if b.alone = !countsProcesses(plan); b.alone {
			b.gaps = append(b.gaps, "limit processes="+strconv.FormatInt(l.Processes, 10)+sampled+"; bubblewrap as an unprivileged user, or a control group that sbx may use, closes this")
		}
	}
	switch {
	case l.Tmp == 0:
	case plan.Backend != platform.Bwrap:
		b.watch.tmp = true
		b.gaps = append(b.gaps, "limit tmp="+size(l.Tmp)+sampled+"; bubblewrap closes this")
	case !plan.Features.Size:
		b.gaps = append(b.gaps, "limit tmp="+size(l.Tmp)+" does not hold; bubblewrap 0.7 has it")
	}
	if l.Strict && len(b.gaps) > 0 {
		return &LimitError{Gaps: b.gaps}
	}
	return nil
}

func (b *bounds) release() { b.group.remove() }

// yielding is by how much a command is nicer than sbx where nothing but sbx
// counts its processes. Several hundred of them that are all busy would leave
// the watch too little of the processor to end them in time.
const yielding = 10

// admit puts the process that becomes the command where its limits hold.
func (b *bounds) admit(pid int) error {
	err := b.group.admit(pid)
	if err != nil && b.group.scope != nil {
		err = b.giveUp()
	}
	if b.alone {
		for _, task := range tasksOf(pid) { // niceness belongs to each thread
			if tid, err := strconv.Atoi(task); err == nil {
				_ = unix.Setpriority(unix.PRIO_PROCESS, tid, min(niceness()+yielding, 19))
			}
		}
	}
	return err
}

// niceness is that of this thread; the system call returns it from 40 to 1.
func niceness() int {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return 20 - n
}

// overrun reports the limit that a run is over at this moment, if any.
func (b *bounds) overrun(s *sandbox) Overrun {
	if limit := b.group.overrun(b.limits); limit != "" {
		return Overrun{Limit: limit}
	}
	if b.full++; !b.group.full(b.limits) {
		b.full = 0
	}
	switch {
	case b.full >= patience:
		return Overrun{Limit: memoryLimit(b.limits)}
	case b.watch.processes && s.tasksAbove(b.limits.Processes):
		return Overrun{Limit: processesLimit(b.limits)}
	case b.watch.memory && s.memoryAbove(b.limits.Memory):
		return Overrun{Limit: memoryLimit(b.limits)}
	case b.watch.tmp && s.place.size() > b.limits.Tmp:
		return Overrun{Limit: "tmp=" + size(b.limits.Tmp)}
	}
	return Overrun{}
}

// patience is how many looks a command may find its memory used up.
const patience = 10

// watches reports whether anything has to be looked at while the command runs.
func (b *bounds) watches() bool {
	return b.group != nil || b.watch.memory || b.watch.processes || b.watch.tmp
}

// settle reads the group's counters at the command's end: to reap what is left
// takes a scope's holder along, and then its manager may remove them.
func (b *bounds) settle() { b.met = b.group.overrun(b.limits) }

// blame names the limit by which a command failed that sbx did not end: a
// signal of the kernel's, also where a shell passed it on as its own status.
func (b *bounds) blame(r Result) Overrun {
	switch code := r.ExitCode; {
	case code == 0:
		return Overrun{}
	case code == 128+int(unix.SIGXCPU) && b.limits.CPU > 0:
		return Overrun{Limit: "cpu=" + b.limits.CPU.String(), Stopped: true}
	case code == 128+int(unix.SIGXFSZ) && b.limits.FileSize > 0:
		return Overrun{Limit: "file_size=" + size(b.limits.FileSize), Stopped: true}
	}
	return Overrun{Limit: cmp.Or(b.met, b.group.overrun(b.limits)), Stopped: r.Signal == unix.SIGKILL}
}

// pause is the time between two looks at a run, of which the last one took so
// long. A large tree is looked at less often; but what takes long because the
// command has the processor is no reason to leave it that. Processes that
// nothing else counts multiply fastest.
func (b *bounds) pause(took time.Duration) time.Duration {
	least := 50 * time.Millisecond
	if b.watch.processes {
		least = 10 * time.Millisecond
	}
	return min(max(least, 10*took), 500*time.Millisecond)
}
