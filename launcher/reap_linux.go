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
// killed child's own children come to us in turn. Processes that fork faster
// than they are killed are stopped first.
func reapAll() {
	for round := 0; ; round++ {
		pids := childrenOf(os.Getpid())
		if len(pids) == 0 {
			return
		}
		if round >= patience {
			freeze()
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL) // our unreaped child: the number is still its own
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
	}
}

// patience is how many rounds of killing an ordinary tree takes at most.
const patience = 4

// freeze stops all that run below us. What is stopped starts nothing, so the
// rounds get shorter until one finds nothing new.
func freeze() {
	stopped := map[int]bool{}
	for more := true; more; {
		more = false
		pids := childrenOf(os.Getpid())
		for i := 0; i < len(pids); i++ {
			pids = append(pids, childrenOf(pids[i])...)
		}
		for _, pid := range pids {
			if !stopped[pid] {
				stopped[pid], more = true, true
				_ = unix.Kill(pid, unix.SIGSTOP)
			}
		}
	}
}
