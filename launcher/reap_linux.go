package launcher

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// becomeReaper makes this process the parent of whatever the command leaves
// behind (PR_SET_CHILD_SUBREAPER, Linux 3.4).
func becomeReaper() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // known since long before Landlock
}

// reapAll kills and reaps every child of this process until there is none: a
// killed child's own children come to us in turn.
func reapAll() {
	for {
		pids := children()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL) // our unreaped child: the number is still its own
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
	}
}

// children lists the children of all our threads, proc_pid_task(5).
func children() (pids []int) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	for _, task := range tasks {
		list, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
