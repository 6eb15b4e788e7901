package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// arm is one way to run an attack.
type arm string

const (
	outside arm = "outside" // the control arm: no sandbox
	bare    arm = "bare"    // bubblewrap with a usual command line
	bwrap   arm = "bwrap"
	builtin arm = "builtin"
)

// state is how an attack ended.
type state string

const (
	allowed state = "allowed"
	blocked state = "blocked"
	refused state = "refused" // sbx would not start it
	lacking state = "n/a"     // this machine lacks what is attacked
	broken  state = "broken"  // no answer: the suite is at fault
)

// outcome is the result of one attack in one arm.
type outcome struct {
	state state
	errno string
	why   string
}

func (o outcome) String() string {
	if o.errno != "" {
		return string(o.state) + " " + o.errno
	}
	return string(o.state)
}

// command is the argument list of an arm.
func (s *stage) command(c escapeCase, a arm) []string {
	attack := strings.Fields(s.expand(c.Run))
	if c.Do != "" {
		attack = append([]string{s.vars["PROBE"]}, strings.Fields(s.expand(c.Do))...)
	}
	var argv []string
	switch a {
	case outside:
		argv = attack
	case bare:
		argv = append(s.bare(c), attack...)
	default:
		argv = append([]string{s.vars["SBX"], "run", "--backend", string(a), "--ro", s.vars["PROBE"]}, strings.Fields(s.expand(c.Flags))...)
		argv = append(append(argv, "--"), attack...)
	}
	return append(strings.Fields(s.expand(c.Via)), argv...)
}

// bare is what people write: everything readable, the home hidden, the
// workspace writable, namespaces of its own.
func (s *stage) bare(c escapeCase) []string {
	return append([]string{s.vars["BWRAP"], "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", s.vars["HOME"],
		"--bind", s.vars["WS"], s.vars["WS"], "--unshare-all", "--die-with-parent", "--chdir", s.start(c)},
		strings.Fields(s.expand(c.Bare))...)
}

func (s *stage) start(c escapeCase) string {
	if c.Cwd != "" {
		return s.path(s.expand(c.Cwd))
	}
	return s.vars["WS"]
}

// armTimeout is far above what any attack takes.
const armTimeout = 30 * time.Second

// execution is what one run has left.
type execution struct {
	exit           *os.ProcessState
	stdout, stderr string
	hung           bool
}

// execute runs an arm once.
func (s *stage) execute(c escapeCase, a arm) (execution, error) {
	ctx, cancel := context.WithTimeout(context.Background(), armTimeout)
	defer cancel()
	argv := s.command(c, a)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = s.start(c)
	cmd.Env = append([]string{"HOME=" + s.vars["HOME"], "PATH=" + os.Getenv("PATH"), "XDG_CACHE_HOME=" + s.vars["CACHE"],
		"SECRET_TOKEN=" + hostSecret}, s.env...)
	cmd.ExtraFiles = s.extra
	cmd.SysProcAttr = &s.attr
	cmd.WaitDelay = 200 * time.Millisecond
	if s.stdin != nil {
		cmd.Stdin = s.stdin
	}
	var stdout, stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Stdout = &stdout
	if s.stdout != nil {
		cmd.Stdout = s.stdout
	}
	var err error
	if c.Signal != "" {
		err = s.interrupt(cmd, c.Signal, &stdout)
	} else {
		err = cmd.Run()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil && !missingProgram(err) {
		return execution{}, err
	}
	return execution{cmd.ProcessState, stdout.String(), stderr.String(), ctx.Err() != nil}, nil
}

func missingProgram(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound)
}

// interrupt sends a signal to the launcher as soon as the probe has spoken.
func (s *stage) interrupt(cmd *exec.Cmd, name string, stdout *bytes.Buffer) error {
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd.Stdout = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		return err
	}
	buf := make([]byte, 4096)
	n, err := r.Read(buf)
	stdout.Write(buf[:n])
	if err == nil || errors.Is(err, io.EOF) {
		err = cmd.Process.Signal(signals[name])
	}
	return errors.Join(err, cmd.Wait())
}

// verdict is the probe's own word.
type verdict struct{ Verdict, Errno, Detail string }

// answer finds the probe's line. It is on stdout and again on stderr, because
// an attack may have spoilt the first.
func (e execution) answer() (verdict, bool) {
	for _, stream := range []string{e.stdout, e.stderr} {
		for line := range strings.SplitSeq(stream, "\n") {
			var v verdict
			if strings.HasPrefix(line, `{"verdict"`) && json.Unmarshal([]byte(line), &v) == nil {
				return v, true
			}
		}
	}
	return verdict{}, false
}

// judge turns an execution into an outcome, by what has happened on the host
// where the case says what that would be.
func (s *stage) judge(c escapeCase, a arm, e execution) (outcome, error) {
	if e.hung {
		return outcome{state: broken, why: "it does not end"}, nil
	}
	happened, err := s.effects(c)
	if err != nil {
		return outcome{}, err
	}
	v, spoken := e.answer()
	switch {
	case len(c.Effect) > 0 && happened && (a != outside || c.Run != "" || v.Verdict == "allowed"):
		return outcome{state: allowed, why: "seen on the host: " + strings.Join(c.Effect, ", ")}, nil
	case !spoken && (a == bwrap || a == builtin) && e.exit.ExitCode() == 125:
		return outcome{state: refused, why: lastLine(e.stderr)}, nil
	case !spoken && (a == bwrap || a == builtin) && strings.Contains(e.stderr, "ended by its limit"):
		return outcome{state: blocked, why: lastLine(e.stderr)}, nil
	case !spoken && c.Run != "":
		return outcome{state: blocked, why: lastLine(e.stderr)}, nil
	case !spoken:
		return outcome{state: broken, why: fmt.Sprintf("%v; stdout %q, stderr %q", e.exit, e.stdout, e.stderr)}, nil
	case v.Verdict == "not-applicable":
		return outcome{state: lacking, why: v.Detail}, nil
	case v.Verdict == "allowed" && len(c.Effect) > 0:
		return outcome{state: blocked, why: "without effect on the host"}, nil
	}
	return outcome{state: state(v.Verdict), errno: v.Errno, why: v.Detail}, nil
}

// lastLine prefers what sbx says of the failure to what it hints at.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "sbx: ") {
			return line
		}
	}
	return lines[len(lines)-1]
}
