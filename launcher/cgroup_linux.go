package launcher

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/policy"
)

// A cgroup is the control group of one run: a leaf below this process's own
// group or below one of its ancestors, wherever the administrator has let us
// make one (cgroups(7)). In version 2 that is one directory; in version 1 each
// controller has its own. Only the command is put in, not the backend.
type cgroup struct {
	dirs  map[string]groupDir // by controller: "memory", "pids"
	scope *scope              // above the directories; nil where they are ours without
}

type groupDir struct {
	path    string
	version int
	lock    *os.File // held while the run lives; see sweepGroups
}

// groupPrefix names our groups, for the sweep.
const groupPrefix = "sbx-"

// newGroup makes what it can for the limits; nil if nothing. Where ask is set,
// the user's service manager is asked for a group before that.
func newGroup(l policy.Limits, ask bool) *cgroup {
	var wanted []string
	if l.Memory > 0 {
		wanted = append(wanted, "memory")
	}
	if l.Processes > 0 {
		wanted = append(wanted, "pids")
	}
	g := &cgroup{dirs: map[string]groupDir{}}
	const self = "/proc/self"
	if !g.make(self, wanted...) && len(wanted) > 1 {
		for _, controller := range wanted {
			g.make(self, controller)
		}
	}
	if len(g.dirs) == 0 && ask {
		if g.scope = openScope(wanted); g.scope != nil {
			g.make(g.scope.proc(), wanted...)
		}
	}
	if err := g.limitMemory(l.Memory); err != nil {
		g.drop("memory")
	}
	if len(g.dirs) == 0 {
		g.remove()
		return nil
	}
	return g
}

var groupNumber atomic.Int64

// make adds one leaf that has all of the controllers, as near to the process
// that proc describes as may be. In version 2 a process
// is in one group, so a second leaf there would take it out of the first.
func (g *cgroup) make(proc string, controllers ...string) bool {
	parent, version := groupParent(proc, controllers...)
	if parent == "" || version == 2 && g.unified() {
		return false
	}
	sweepGroups(parent)
	for range mostTries {
		dir := fmt.Sprintf("%s/%s%d-%d", parent, groupPrefix, os.Getpid(), groupNumber.Add(1))
		if os.Mkdir(dir, 0o755) != nil {
			return false
		}
		if held, err := lock(dir); err == nil {
			for _, controller := range controllers {
				g.dirs[controller] = groupDir{path: dir, version: version, lock: held}
			}
			return true
		}
		_ = unix.Rmdir(dir) // another run was sweeping
	}
	return false
}

// unified reports whether there is a leaf of version 2 already.
func (g *cgroup) unified() bool {
	for _, d := range g.dirs {
		if d.version == 2 {
			return true
		}
	}
	return false
}

func (g *cgroup) drop(controller string) {
	if d, ok := g.dirs[controller]; ok {
		delete(g.dirs, controller)
		for _, other := range g.dirs {
			if other.path == d.path {
				return
			}
		}
		d.remove()
	}
}

// keeps reports whether the kernel keeps a controller's limit.
func (g *cgroup) keeps(controller string) bool {
	if g == nil {
		return false
	}
	_, ok := g.dirs[controller]
	return ok
}

// limitMemory bounds memory, and swap with it where the kernel counts that.
func (g *cgroup) limitMemory(bytes int64) error {
	d, ok := g.dirs["memory"]
	if !ok {
		return nil
	}
	if d.version == 1 {
		err := d.write("memory.limit_in_bytes", bytes)
		_ = d.write("memory.memsw.limit_in_bytes", bytes) // absent without swap accounting
		return err
	}
	_ = d.write("memory.swap.max", 0)  // absent without swap
	_ = d.write("memory.oom.group", 1) // Linux 4.19; the watch does the same later
	return d.write("memory.max", bytes)
}

// admit puts a process in. What it starts will be in as well.
func (g *cgroup) admit(pid int) error {
	if g == nil {
		return nil
	}
	for _, d := range g.dirs {
		if g.scope != nil { // all are one directory
			return g.scope.attach(pid, d.path)
		}
		if err := d.write("cgroup.procs", int64(pid)); err != nil {
			return &SetupError{Step: "control group", Path: d.path, Reason: err.Error()}
		}
	}
	return nil
}

// seal bounds the number of tasks. The stub may have threads of its own until
// it becomes the command, so this comes after it has.
func (g *cgroup) seal(tasks int64) {
	if g == nil || tasks <= 0 {
		return
	}
	if d, ok := g.dirs["pids"]; ok {
		_ = d.write("pids.max", tasks)
	}
}

// overrun names the limit that the kernel has had to act upon.
func (g *cgroup) overrun(l policy.Limits) string {
	if g == nil {
		return ""
	}
	if d, ok := g.dirs["pids"]; ok && d.count("pids.events", "max") > 0 {
		return processesLimit(l)
	}
	if d, ok := g.dirs["memory"]; ok {
		events := map[int]string{1: "memory.oom_control", 2: "memory.events"}[d.version]
		if d.count(events, "oom_kill") > 0 {
			return memoryLimit(l)
		}
	}
	return ""
}

// full reports whether the group is at its limit with nothing left in it that
// the kernel could drop. What asks for more then waits, for seconds where
// somebody else's disk writes are in the way, before the kernel ends it.
func (g *cgroup) full(l policy.Limits) bool {
	if g == nil || l.Memory <= 0 {
		return false
	}
	d, ok := g.dirs["memory"]
	if !ok {
		return false
	}
	const little = 1 << 20
	if d.version == 1 {
		dropped := d.count("memory.stat", "cache") - d.count("memory.stat", "shmem")
		return dropped < little && d.number("memory.usage_in_bytes") > l.Memory-little &&
			d.number("memory.failcnt")+d.number("memory.memsw.failcnt") > 0
	}
	dropped := d.count("memory.stat", "file") - d.count("memory.stat", "shmem")
	return dropped < little && d.number("memory.current") > l.Memory-little && d.count("memory.events", "max") > 0
}

// kill ends all in the group at once, where the kernel can (Linux 5.14).
func (g *cgroup) kill() {
	if g == nil {
		return
	}
	for _, d := range g.dirs {
		_ = d.write("cgroup.kill", 1)
	}
}

func (g *cgroup) remove() {
	if g == nil {
		return
	}
	for _, d := range g.dirs {
		d.remove()
	}
	g.scope.close()
}

// remove takes the directory away. A group with processes stays, and the next
// run sweeps it.
func (d groupDir) remove() {
	for range 20 {
		if err := os.Remove(d.path); !errors.Is(err, unix.EBUSY) {
			break
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil) // the kernel takes dead processes out a moment later
	}
	d.lock.Close()
}

func (d groupDir) write(file string, value int64) error {
	f, err := os.OpenFile(d.path+"/"+file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatInt(value, 10))
	return errors.Join(err, f.Close())
}

// count reads one number of a file of "name number" lines.
func (d groupDir) count(file, name string) int64 {
	b, _ := os.ReadFile(d.path + "/" + file)
	for line := range strings.Lines(string(b)) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), " "); key == name {
			n, _ := strconv.ParseInt(value, 10, 64)
			return n
		}
	}
	return 0
}

// number reads a file that holds just one.
func (d groupDir) number(file string) int64 {
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(contentOf(d.path+"/"+file))), 10, 64)
	return n
}

// sweepGroups removes what killed runs left behind: empty groups of ours that
// nobody holds.
func sweepGroups(parent string) {
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), groupPrefix) {
			continue
		}
		dir := parent + "/" + e.Name()
		if held, err := lock(dir); err == nil {
			_ = unix.Rmdir(dir)
			held.Close()
		}
	}
}
