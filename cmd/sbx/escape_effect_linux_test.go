package main_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// effects says whether all that an attack wanted has happened on the host.
func (s *stage) effects(c escapeCase) (bool, error) {
	for _, line := range c.Effect {
		words := strings.Fields(s.expand(line))
		happened, err := s.effect(words[0], words[1:])
		if err != nil {
			return false, fmt.Errorf("%s: effect %q: %w", c.ID, line, err)
		}
		if !happened {
			return false, nil
		}
	}
	return true, nil
}

func (s *stage) effect(name string, a []string) (bool, error) {
	if look, ok := s.marks[name]; ok {
		return look()
	}
	switch name {
	case "exists":
		matches, err := filepath.Glob(s.path(a[0]))
		return len(matches) > 0, err
	case "gone":
		_, err := os.Lstat(s.path(a[0]))
		return errors.Is(err, os.ErrNotExist), nil
	case "holds":
		return holds(s.path(a[0]), a[1])
	case "lost":
		there, err := holds(s.path(a[0]), a[1])
		return !there, err
	case "mode":
		return hasMode(s.path(a[0]), a[1])
	case "old":
		info, err := os.Stat(s.path(a[0]))
		return err == nil && info.ModTime().Equal(time.Unix(1, 0)), err
	case "attribute":
		n, err := unix.Lgetxattr(s.path(a[0]), a[1], make([]byte, 256))
		return err == nil && n > 0, nil
	case "device":
		var st unix.Stat_t
		err := unix.Lstat(s.path(a[0]), &st)
		return err == nil && (st.Mode&unix.S_IFMT == unix.S_IFBLK || st.Mode&unix.S_IFMT == unix.S_IFCHR), nil
	case "alive":
		return s.survives(a[0]), nil
	}
	return false, errors.New("no such effect")
}

func holds(p, text string) (bool, error) {
	content, err := os.ReadFile(p)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return false, nil
	}
	return strings.Contains(string(content), text), err
}

func hasMode(p, octal string) (bool, error) {
	want, err := strconv.ParseUint(octal, 8, 32)
	if err != nil {
		return false, err
	}
	var st unix.Stat_t
	if err := unix.Stat(p, &st); err != nil {
		return false, nil
	}
	return st.Mode&0o7777 == uint32(want), nil
}

// survives reports whether a process with the mark is still there after the
// time that the kernel may take to end a tree. Without a sandbox nothing would
// end it.
func (s *stage) survives(mark string) bool {
	if s.arm == outside {
		return len(marked(mark)) > 0
	}
	for range 50 {
		if len(marked(mark)) == 0 {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return true
}

// marked lists the processes that carry a mark as an argument of its own.
func marked(mark string) (pids []int) {
	processes, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, p := range processes {
		content, _ := os.ReadFile(p)
		for arg := range strings.SplitSeq(string(content), "\x00") {
			if arg == mark {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(p)))
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// endMarked ends what an attack has left behind. The mark is this suite's.
func endMarked(mark string) error {
	for range 400 {
		left := marked(mark)
		if len(left) == 0 {
			return nil
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("processes with the mark %s do not end", mark)
}
