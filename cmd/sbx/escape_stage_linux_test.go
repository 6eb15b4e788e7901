package main_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// hostSecret is what no attack may find, plantedText what none may leave. The
// probe has the same.
const (
	hostSecret  = "secret-of-the-host"
	plantedText = "planted-by-the-probe"
)

// stage is the world of one attack: its files, the host's objects, and what
// must be put away after it.
type stage struct {
	arm   arm
	dir   string
	vars  map[string]string
	env   []string
	marks map[string]func() (bool, error) // effects that helpers look for

	stdin, stdout, stderr *os.File
	extra                 []*os.File // from descriptor 3 on
	attr                  syscall.SysProcAttr

	undo []func() error
}

// newStage makes the tree and the helpers of a case below dir, for one arm.
func newStage(c escapeCase, a arm, dir string, vars map[string]string) (*stage, error) {
	s := &stage{arm: a, dir: dir, vars: map[string]string{
		"DIR": dir, "WS": dir + "/ws", "HOME": dir + "/home", "SECRET": hostSecret, "PLANTED": plantedText,
		"MARK": "escape-mark-" + strings.ReplaceAll(strings.Trim(dir, "/"), "/", "-"),
	}, marks: map[string]func() (bool, error){}}
	for name, value := range vars {
		s.vars[name] = value
	}
	s.undo = append(s.undo, func() error { return endMarked(s.vars["MARK"]) })
	for _, d := range []string{dir, s.vars["WS"], s.vars["HOME"]} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return s, err
		}
	}
	// Helpers come first: trees and openings may name what they made.
	for _, steps := range []struct {
		lines []string
		do    func(string) error
	}{{c.Host, s.help}, {c.Tree, s.grow}, {c.Open, s.open}} {
		for _, line := range steps.lines {
			if err := steps.do(s.expand(line)); err != nil {
				return s, &stageError{line: line, err: err}
			}
		}
	}
	for _, v := range c.Env {
		s.env = append(s.env, s.expand(v))
	}
	return s, nil
}

// stageError is why a world could not be made.
type stageError struct {
	line string
	err  error
}

func (e *stageError) Error() string { return fmt.Sprintf("%q: %v", e.line, e.err) }

// lacking reports whether the machine has no such thing, or refuses it.
func (e *stageError) lacking() bool {
	for _, errno := range []syscall.Errno{unix.ENOSYS, unix.EPERM, unix.EAFNOSUPPORT, unix.EADDRNOTAVAIL, unix.EOPNOTSUPP} {
		if errors.Is(e.err, errno) {
			return true
		}
	}
	return false
}

// expand puts in the variables: $DIR and the like.
func (s *stage) expand(text string) string {
	return os.Expand(text, func(name string) string { return s.vars[name] })
}

// close puts everything away, in reverse order.
func (s *stage) close() error {
	var errs []error
	for _, f := range append(s.extra, s.stdin, s.stdout, s.stderr) {
		if f != nil {
			_ = f.Close()
		}
	}
	for i := len(s.undo) - 1; i >= 0; i-- {
		errs = append(errs, s.undo[i]())
	}
	return errors.Join(append(errs, removeTree(s.dir))...)
}

// removeTree removes what a probe may have taken the permissions of.
func removeTree(dir string) error {
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(p, 0o755)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// grow makes one thing of the tree:
//
//	d/            directory
//	f = text      file
//	l -> target   symbolic link
//	h ~ other     hard link
//	p < host mode uid   copy of a host's file
func (s *stage) grow(line string) error {
	words := strings.Fields(line)
	p := s.path(words[0])
	if err := os.MkdirAll(filepath.Dir(strings.TrimSuffix(p, "/")), 0o755); err != nil {
		return err
	}
	if strings.HasSuffix(words[0], "/") {
		return os.MkdirAll(p, 0o755)
	}
	if len(words) < 2 {
		return errors.New("what is it?")
	}
	switch words[1] {
	case "=":
		_, text, _ := strings.Cut(line, " = ")
		return os.WriteFile(p, []byte(strings.ReplaceAll(text, `\n`, "\n")+"\n"), 0o644)
	case "->":
		return os.Symlink(words[2], p)
	case "~":
		return os.Link(s.path(words[2]), p)
	case "<":
		return s.copyOf(p, words[2:])
	}
	return errors.New("what is it?")
}

func (s *stage) path(name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return s.dir + "/" + name
}

func (s *stage) copyOf(p string, words []string) error {
	content, err := os.ReadFile(words[0])
	if err != nil {
		return err
	}
	if err := os.WriteFile(p, content, 0o755); err != nil || len(words) < 3 {
		return err
	}
	mode, err := strconv.ParseUint(words[1], 8, 32)
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(words[2])
	if err != nil {
		return err
	}
	return errors.Join(os.Chown(p, uid, -1), unix.Chmod(p, uint32(mode)))
}

// open arranges a stream or leaves a descriptor open:
//
//	stdin file P | stdin directory P | stdin terminal | stdin sender P
//	stdout file P    appended to
//	terminal         controlling, but no stream is one
//	leak file P | leak directory P | leak socket ADDRESS
func (s *stage) open(line string) (err error) {
	words := strings.Fields(line)
	switch what := strings.Join(words[:min(2, len(words))], " "); what {
	case "stdin file", "stdin directory":
		s.stdin, err = os.Open(s.path(words[2]))
	case "stdin sender":
		s.stdin, err = s.sender(s.path(words[2]))
	case "stdout file":
		s.stdout, err = os.OpenFile(s.path(words[2]), os.O_WRONLY|os.O_APPEND, 0)
	case "stdin terminal":
		s.stdin, err = s.terminal()
		s.attr.Setsid, s.attr.Setctty, s.attr.Ctty = true, true, 0
	case "terminal":
		var tty *os.File
		tty, err = s.terminal()
		s.extra = append(s.extra, tty)
		s.attr.Setsid, s.attr.Setctty, s.attr.Ctty = true, true, 3
	case "leak file":
		return s.leak(os.OpenFile(s.path(words[2]), os.O_RDWR, 0))
	case "leak directory":
		return s.leak(os.Open(s.path(words[2])))
	case "leak socket":
		return s.leak(connected(words[2]))
	default:
		return errors.New("what is that?")
	}
	return err
}

// leaks is how many copies of a descriptor are left open: a launcher may
// cover low numbers by accident.
const leaks = 40

func (s *stage) leak(f *os.File, err error) error {
	if err != nil {
		return err
	}
	for range leaks {
		s.extra = append(s.extra, f)
	}
	return nil
}
