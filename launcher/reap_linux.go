package launcher

import (
	"os"

	"golang.org/x/sys/unix"
)

// becomeReaper makes this process the parent of whatever the command leaves
// behind (PR_SET_CHILD_SUBREAPER, Linux 3.4).
func becomeReaper() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // known since long before Landlock
}

// reapAll kills and reaps every child of this process until there is none: a
// killed child's own children come to us in turn. All are killed before any is
// waited for, since each takes its turn on the processor to die; and where
// that was not enough, the rest are stopped first.
func reapAll() {
	for first := true; ; first = false {
		if !first {
			freeze()
		}
		if unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == unix.ECHILD {
			return // which is quicker to learn than to read
		}
		pids := childrenOf(os.Getpid())
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL) // our unreaped child: the number is still its own
		}
		for _, pid := range pids {
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
	}
}

// freeze stops all that run below us. What is stopped starts nothing and reaps
// nobody, so that the numbers of its children stay their own. Orphans, which
// are ours to stop without a look at anything else, come first: of a bomb that
// runs from its own processes they are nearly all.
func freeze() {
	stopped := map[int]bool{}
	stop := func(pids []int) (more bool) {
		for _, pid := range pids {
			if !stopped[pid] {
				stopped[pid], more = true, true
				_ = unix.Kill(pid, unix.SIGSTOP)
			}
		}
		return more
	}
	// A process that is about to exit does not stop, and its children come to
	// us behind our back: only a second look that finds nothing new is trusted.
	for quiet := 0; quiet < 2; quiet++ {
		for stop(childrenOf(os.Getpid())) {
			quiet = -1
		}
		walk(childrenOf(os.Getpid()), func(pid int) bool {
			if stop([]int{pid}) {
				quiet = -1
			}
			return true
		})
	}
}
