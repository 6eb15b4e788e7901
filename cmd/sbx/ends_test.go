//go:build linux

package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// withMarker counts the processes that carry a marker in their arguments.
func withMarker(marker string) (pids []int) {
	procs, _ := os.ReadDir("/proc")
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		cmdline, _ := os.ReadFile("/proc/" + p.Name() + "/cmdline")
		if bytes.Contains(cmdline, []byte(marker)) && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// eventually waits for a state that has no event to wait for.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, 20*time.Second, 5*time.Millisecond, what)
}

// TestKillLeavesNothing kills each process of a run in turn, also before the
// command has started, and looks for survivors and litter.
func TestKillLeavesNothing(t *testing.T) {
	w := newWorld(t)
	victims := map[string]func(sbx int) int{
		"sbx":              func(sbx int) int { return sbx },
		"bubblewrap":       func(sbx int) int { return child(sbx) },
		"the init process": func(sbx int) int { return child(child(sbx)) },
	}
	for name, victim := range victims {
		t.Run(name, func(t *testing.T) {
			marker := fmt.Sprintf("%d.%d", 600000+os.Getpid(), len(name))
			cmd := w.command("run", "--rw", ".", "-c", "(setsid sleep "+marker+" &) ; sleep "+marker)
			require.NoError(t, cmd.Start())
			eventually(t, "the command starts", func() bool { return countSleeps(marker) >= 2 })
			require.NoError(t, syscall.Kill(victim(cmd.Process.Pid), syscall.SIGKILL))
			_ = cmd.Wait()
			eventually(t, "all processes end", func() bool { return len(withMarker(marker)) == 0 })
			assertEmpty(t, w.cwd)
		})
	}
}

func countSleeps(marker string) (n int) {
	for _, pid := range withMarker(marker) {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasPrefix(string(cmdline), "sleep") {
			n++
		}
	}
	return n
}

// child returns the only child of a process.
func child(pid int) int {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if fields := strings.Fields(string(children)); len(fields) > 0 {
			n, _ := strconv.Atoi(fields[0])
			return n
		}
	}
	return -1
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestKillAtAnyMoment kills sbx at moments spread over its start. Whatever it
// leaves becomes our child then, so nothing can hide.
func TestKillAtAnyMoment(t *testing.T) {
	require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	w := newWorld(t)
	require.Zero(t, w.sbx("run", "--rw", ".", "--", "true").code, "the probe is in the cache from here on")
	before := livingChildren()
	for moment := range 200 {
		cmd := w.command("run", "--rw", ".", "--", "sleep", "600")
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(moment) * 60 * time.Microsecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	eventually(t, "all processes end", func() bool {
		reapOrphans(before)
		return len(livingChildren()) <= len(before)
	})
	assertEmpty(t, w.cwd)
}

// livingChildren lists the children of this process that are no zombies.
func livingChildren() map[int]bool {
	living := map[int]bool{}
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		list, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		for field := range strings.FieldsSeq(string(list)) {
			pid, _ := strconv.Atoi(field)
			stat, err := os.ReadFile("/proc/" + field + "/stat")
			if err == nil && !strings.Contains(string(stat), ") Z ") {
				living[pid] = true
			}
		}
	}
	return living
}

// reapOrphans collects what was left to us and has ended.
func reapOrphans(ours map[int]bool) {
	tasks, _ := os.ReadDir("/proc/self/task")
	for _, task := range tasks {
		list, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		for field := range strings.FieldsSeq(string(list)) {
			if pid, _ := strconv.Atoi(field); !ours[pid] {
				_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
			}
		}
	}
}

// TestSignalsReachTheCommand sends sbx what a CI runner sends.
func TestSignalsReachTheCommand(t *testing.T) {
	w := newWorld(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			var stdout bytes.Buffer
			cmd := w.command("run", "-c", `trap 'echo cleaned; exit 7' TERM INT HUP; echo ready; while :; do sleep 0.05; done`)
			cmd.Stdout = &stdout
			out, err := cmd.StderrPipe()
			require.NoError(t, err)
			defer out.Close()
			r, pw, err := os.Pipe()
			require.NoError(t, err)
			defer r.Close()
			cmd.Stdout = pw
			require.NoError(t, cmd.Start())
			pw.Close()
			head := make([]byte, len("ready\n"))
			_, err = r.Read(head)
			require.NoError(t, err)
			require.NoError(t, cmd.Process.Signal(sig))
			rest := make([]byte, 64)
			n, _ := r.Read(rest)
			var exit *exec.ExitError
			require.ErrorAs(t, cmd.Wait(), &exit)
			assert.Equal(t, 7, exit.ExitCode())
			assert.Equal(t, "cleaned\n", string(rest[:n]))
		})
	}
}
