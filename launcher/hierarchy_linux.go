package launcher

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// groupParent finds the nearest directory below which this process may make a
// group with all of the controllers, and the version of its hierarchy; "" if
// there is none. proc is /proc/PID.
func groupParent(proc string, controllers ...string) (dir string, version int) {
	mounts, _ := os.ReadFile(proc + "/mountinfo")
	groups, _ := os.ReadFile(proc + "/cgroup")
	for line := range strings.Lines(string(mounts)) {
		m, ok := groupMount(line)
		if !ok {
			continue
		}
		own, ok := ownGroup(string(groups), m, controllers)
		if !ok {
			continue
		}
		for at := own; ; at = path.Dir(at) {
			if m.offers(at, controllers) {
				return at, m.version
			}
			if m.version == 1 || at == m.point || len(at) < len(m.point) {
				break
			}
		}
	}
	return "", 0
}

// unifiedGroup finds the directory of a process's group of version 2; "" if it
// is not mounted. proc is /proc/PID.
func unifiedGroup(proc string) string {
	groups := string(contentOf(proc + "/cgroup"))
	for line := range strings.Lines(string(contentOf("/proc/self/mountinfo"))) {
		if m, ok := groupMount(line); ok && m.version == 2 {
			if dir, ok := ownGroup(groups, m, nil); ok {
				return dir
			}
		}
	}
	return ""
}

// hierarchy is one mounted hierarchy of control groups.
type hierarchy struct {
	root, point string // the group that is mounted, and where
	version     int
	controllers []string // of version 1
}

// groupMount reads a line of mountinfo, proc_pid_mountinfo(5).
func groupMount(line string) (hierarchy, bool) {
	left, right, _ := strings.Cut(line, " - ")
	place, kind := strings.Fields(left), strings.Fields(right)
	if len(place) < 5 || len(kind) < 3 {
		return hierarchy{}, false
	}
	m := hierarchy{root: place[3], point: place[4]}
	switch kind[0] {
	case "cgroup2":
		m.version = 2
	case "cgroup":
		m.version, m.controllers = 1, strings.Split(kind[2], ",")
	}
	return m, m.version > 0
}

// ownGroup finds the directory of this process's group in a hierarchy, by the
// lines of /proc/self/cgroup.
func ownGroup(groups string, m hierarchy, controllers []string) (string, bool) {
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		v1 := m.version == 1 && has(m.controllers, controllers) && has(strings.Split(fields[1], ","), controllers)
		v2 := m.version == 2 && fields[0] == "0"
		if rest, below := strings.CutPrefix(fields[2], strings.TrimSuffix(m.root, "/")); (v1 || v2) && below {
			return filepath.Join(m.point, rest), true
		}
	}
	return "", false
}

// offers reports whether a group below dir would have the controllers, and
// whether we may make one and move our processes into it.
func (m hierarchy) offers(dir string, controllers []string) bool {
	if m.version == 2 {
		b, err := os.ReadFile(dir + "/cgroup.subtree_control")
		if err != nil || !has(strings.Fields(string(b)), controllers) {
			return false
		}
	}
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Type() == fs.ModeDir &&
		unix.Access(dir, unix.W_OK) == nil && unix.Access(dir+"/cgroup.procs", unix.W_OK) == nil
}

// has reports whether all of the wanted are in the list.
func has(list, wanted []string) bool {
	for _, w := range wanted {
		if !slices.Contains(list, w) {
			return false
		}
	}
	return true
}
