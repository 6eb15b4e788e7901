package launcher

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// roots are the processes below which all of a run are: in bubblewrap the
// children of process 1, which is not the command's. Without, orphans come to
// us if we reap, and are lost otherwise.
func (s *sandbox) roots() []int {
	switch {
	case s.first > 0:
		return childrenOf(s.first)
	case s.reaps:
		return childrenOf(os.Getpid())
	}
	return []int{s.pid}
}

// walk visits processes and all below them, each before its children are
// listed, until visit says that it has seen enough. It matters to be quick:
// against a few hundred busy processes this one gets as little of the
// processor as each of them.
func walk(pids []int, visit func(pid int) bool) {
	for len(pids) > 0 {
		for _, pid := range pids {
			if !visit(pid) {
				return
			}
		}
		var below []int
		for _, pid := range pids {
			below = append(below, childrenOf(pid)...)
		}
		pids = below
	}
}

// tasksAbove reports whether a run has more than limit threads, which is what
// the kernel's limits count.
func (s *sandbox) tasksAbove(limit int64) bool {
	var n int64
	walk(s.roots(), func(pid int) bool {
		n += int64(len(tasksOf(pid)))
		return n <= limit
	})
	return n > limit
}

// memoryAbove reports whether a run holds more than limit bytes. The cheap
// number counts shared pages for each process that maps them, so it can only
// clear a run; to convict it takes the proportional one (proc_pid_smaps(5)),
// without pages that the kernel can drop because a file holds them.
func (s *sandbox) memoryAbove(limit int64) bool {
	var resident, held int64
	var pids []int
	walk(s.roots(), func(pid int) bool {
		pids, resident = append(pids, pid), resident+residentOf(pid)
		return true
	})
	for i := 0; resident > limit && held <= limit && i < len(pids); i++ {
		held += heldBy(pids[i])
	}
	return held > limit
}

// residentOf reads the second field of /proc/PID/statm, which counts pages.
func residentOf(pid int) int64 {
	fields := bytes.Fields(contentOf("/proc/" + itoa(pid) + "/statm"))
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
	for _, task := range tasksOf(pid) {
		for field := range bytes.FieldsSeq(contentOf("/proc/" + itoa(pid) + "/task/" + task + "/children")) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// tasksOf lists the threads of a process.
func tasksOf(pid int) (names []string) {
	fd, err := unix.Open("/proc/"+itoa(pid)+"/task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if n <= 0 || err != nil {
			return names
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

// contentOf reads a file of /proc by bare system calls, which is several times
// quicker than by the os package; nothing if the process is gone.
func contentOf(file string) []byte {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	content := make([]byte, 0, 512)
	for {
		n, err := unix.Read(fd, content[len(content):cap(content)])
		if n <= 0 || err != nil {
			return content
		}
		content = slices.Grow(content[:len(content)+n], 512)
	}
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
	stat := contentOf("/proc/" + itoa(pid) + "/stat")
	// The name in parentheses may hold anything, also parentheses.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}
