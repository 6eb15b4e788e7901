package launcher

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// tree is the processes of a run at one moment.
type tree struct{ pids []int }

// tree lists all processes below the command's, and itself. In bubblewrap all
// of them are below process 1, which is not the command's. Without, orphans
// come to us if we reap, and are lost otherwise.
func (s *sandbox) tree() tree {
	var roots []int
	switch {
	case s.first > 0:
		roots = childrenOf(s.first)
	case s.reaps:
		roots = childrenOf(os.Getpid())
	default:
		roots = []int{s.pid}
	}
	for i := 0; i < len(roots); i++ {
		roots = append(roots, childrenOf(roots[i])...)
	}
	return tree{pids: roots}
}

// tasks counts threads, as the kernel's limits do.
func (t tree) tasks() (n int64) {
	for _, pid := range t.pids {
		threads, err := os.ReadDir("/proc/" + itoa(pid) + "/task")
		if err == nil {
			n += int64(len(threads))
		}
	}
	return n
}

// memoryAbove reports whether the processes hold more than limit bytes. The
// cheap number counts shared pages for each that maps them, so it can only
// clear a run; to convict it takes the proportional one (proc_pid_smaps(5)),
// without pages that the kernel can drop because a file holds them.
func (t tree) memoryAbove(limit int64) bool {
	var resident int64
	for _, pid := range t.pids {
		resident += residentOf(pid)
	}
	if resident <= limit {
		return false
	}
	var held int64
	for _, pid := range t.pids {
		held += heldBy(pid)
	}
	return held > limit
}

// residentOf reads the second field of /proc/PID/statm, which counts pages.
func residentOf(pid int) int64 {
	b, _ := os.ReadFile("/proc/" + itoa(pid) + "/statm")
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// heldBy sums what only this process keeps in memory or swap, and its share of
// what it keeps together with others.
func heldBy(pid int) (held int64) {
	f, err := os.Open("/proc/" + itoa(pid) + "/smaps_rollup")
	if err != nil {
		return residentOf(pid) // Linux before 4.14, or a process that is not ours to look at
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := bytes.Fields(lines.Bytes())
		if len(fields) != 3 {
			continue
		}
		switch string(fields[0]) {
		case "Pss_Anon:", "Pss_Shmem:", "SwapPss:":
			kilobytes, _ := strconv.ParseInt(string(fields[1]), 10, 64)
			held += kilobytes << 10
		}
	}
	return held
}

// childrenOf lists the children of all threads of a process, proc_pid_task(5).
func childrenOf(pid int) (pids []int) {
	dir := "/proc/" + itoa(pid) + "/task"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, task := range tasks {
		list, err := os.ReadFile(dir + "/" + task.Name() + "/children")
		if err != nil {
			continue
		}
		for field := range bytes.FieldsSeq(list) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// size is how much of the disk the run's private files take.
func (s *scratch) size() (total int64) {
	if s == nil {
		return 0
	}
	_ = filepath.WalkDir(s.dir, func(p string, d fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err == nil && d.Type().IsRegular() && unix.Lstat(p, &st) == nil {
			total += st.Blocks * 512
		}
		return nil // what vanishes during the walk counts no more
	})
	return total
}

// parentOf returns the parent of a process, proc_pid_stat(5); 0 if it is gone.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name in parentheses may hold anything, also parentheses.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}
