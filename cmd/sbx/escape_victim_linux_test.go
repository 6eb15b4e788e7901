package main_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// victim starts a process of the host that holds the secret in its memory,
// its environment and an open file.
func (s *stage) victim() error {
	file := s.dir + "/victim-file"
	if err := os.WriteFile(file, []byte(hostSecret), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(s.vars["PROBE"], "victim", file)
	cmd.Env = []string{"VICTIM_TOKEN=" + hostSecret}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	said := bufio.NewReader(stdout)
	line, err := said.ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, said)
		_ = cmd.Wait()
		close(ended)
	}()
	s.undo = append(s.undo, func() error {
		stdin.Close()
		_ = cmd.Process.Kill() // it may be stopped
		<-ended
		return nil
	})
	fields := strings.Fields(line)
	if err != nil || len(fields) != 2 {
		return fmt.Errorf("the victim says %q: %w", line, err)
	}
	s.vars["VICTIM"], s.vars["VICTIM_ADDR"], s.vars["VICTIM_FD"] = strconv.Itoa(cmd.Process.Pid), fields[0], fields[1]
	s.watchVictim(cmd.Process.Pid, ended)
	return nil
}

// watchVictim adds the effects that are seen on the victim.
func (s *stage) watchVictim(pid int, ended <-chan struct{}) {
	s.marks["victim-ended"] = func() (bool, error) {
		select {
		case <-ended:
			return true, nil
		case <-time.After(50 * time.Millisecond):
			return false, nil
		}
	}
	s.marks["victim-nice"] = func() (bool, error) {
		n, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
		return 20-n == 5, err // getpriority(2) of the kernel counts from 40 down
	}
	s.marks["victim-limited"] = func() (bool, error) {
		var now unix.Rlimit
		err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &now)
		return now.Cur == 1017, err
	}
	s.marks["victim-idle"] = func() (bool, error) {
		policy, _, errno := syscall.RawSyscall(unix.SYS_SCHED_GETSCHEDULER, uintptr(pid), 0, 0)
		return policy == unix.SCHED_IDLE, errnoOrNil(errno)
	}
	s.marks["victim-confined"] = func() (bool, error) {
		var set unix.CPUSet
		err := unix.SchedGetaffinity(pid, &set)
		return set.Count() == 1, err
	}
	s.marks["victim-slow"] = func() (bool, error) {
		const process, class = 1, 13
		v, _, errno := syscall.RawSyscall(unix.SYS_IOPRIO_GET, process, uintptr(pid), 0)
		return v>>class == 3, errnoOrNil(errno)
	}
	s.marks["victim-first"] = func() (bool, error) {
		score, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
		return strings.TrimSpace(string(score)) == "500", err
	}
}

func errnoOrNil(errno syscall.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

// sender is a socket on which an open file waits to be received.
func (s *stage) sender(file string) (*os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(pair[0])
	f, err := os.Open(file)
	if err != nil {
		unix.Close(pair[1])
		return nil, err
	}
	defer f.Close()
	err = unix.Sendmsg(pair[0], []byte("x"), unix.UnixRights(int(f.Fd())), nil, 0)
	return os.NewFile(uintptr(pair[1]), "sender"), err
}

func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
