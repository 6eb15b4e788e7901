package launcher

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt"
)

// Run starts the command under the plan and waits for its end. Cancelling ctx
// kills the command and what stems from it. An error says that the command did
// not run: a *CommandError where the command is at fault, a *SetupError
// otherwise.
//
// macOS has no process namespaces: what the command starts in a session of its
// own survives. Command.Terminal has no effect: the command shares the
// caller's process group if it is interactive.
func Run(ctx context.Context, plan platform.Plan, cmd Command) (Result, error) {
	if len(cmd.Argv) == 0 {
		return Result{}, &CommandError{NotFound: true}
	}
	begun := time.Now()
	gaps := unkept(plan.Effective.Limits)
	if plan.Effective.Limits.Strict && len(gaps) > 0 {
		return Result{}, &LimitError{Gaps: gaps}
	}
	signals := cmd.caught() // what is made from here on has to be removed
	place, err := newScratch()
	if err != nil {
		return Result{}, &SetupError{Step: "scratch directory", Reason: err.Error()}
	}
	defer place.remove()
	if err := place.fill(); err != nil {
		return Result{}, err
	}
	result, err := runIn(ctx, plan, relocate(plan, cmd, place), place, signals)
	if err != nil {
		return Result{}, err
	}
	result.Duration, result.Gaps = time.Since(begun), append(gaps, result.Gaps...)
	result.Made = plan.Effective.Made()
	return result, nil
}

func runIn(ctx context.Context, plan platform.Plan, cmd Command, place *scratch, signals <-chan os.Signal) (Result, error) {
	s, err := prepare(plan, cmd, place)
	if err != nil {
		return Result{}, err
	}
	var log *logReader
	if cmd.Denials && s.confined {
		log = followLog(s.run.Tag)
		defer log.stop()
	}
	p, err := s.begin(cmd)
	if err != nil {
		return Result{}, err
	}
	p.signals = signals
	result, err := p.supervise(ctx, cmd)
	if err == nil && s.confined && !p.became && seatbelt.OwnExit(result.ExitCode) && !result.TimedOut {
		return Result{}, ownFailure(result.ExitCode, cmd.Argv[0], platform.TrySeatbelt(s.profile, s.shows("/usr/bin/true")))
	}
	if cmd.Denials && s.confined {
		var gap string
		result.Denials, gap = log.finish()
		result.Gaps = append(result.Gaps, gap)
	}
	return result, err
}

// start is a command line with all that it needs to begin.
type start struct {
	plan     platform.Plan
	confined bool
	run      seatbelt.Run
	profile  seatbelt.Profile
	file     string // of the profile; may be empty
	argv     []string
}

// prepare renders the profile of this run, writes it down and looks the
// command up.
func prepare(plan platform.Plan, cmd Command, place *scratch) (*start, error) {
	if info, err := os.Stat(cmd.Dir); err != nil || !info.IsDir() {
		return nil, &SetupError{Step: "chdir", Path: cmd.Dir, Reason: "is no directory that can be entered"}
	}
	s := &start{plan: plan, confined: plan.Backend == platform.Seatbelt}
	s.run = plan.Machine
	s.run.Private = []string{place.home(), place.tmp()}
	s.run.Terminal = terminalOf(cmd)
	s.run.Tag = newTag()
	program, err := findVisible(cmd.Argv[0], cmd.Dir, pathOf(cmd.Env), s.shows)
	if err != nil {
		return nil, advised(err, plan, cmd)
	}
	if !s.confined {
		s.argv = append([]string{program}, cmd.Argv[1:]...)
		return s, nil
	}
	if s.profile, err = seatbelt.Render(plan.Effective, s.run); err != nil {
		return nil, err
	}
	if s.file, err = handOver(s.profile, plan.Effective, place.dir); err != nil {
		return nil, err
	}
	s.argv = s.profile.Argv(s.file, append([]string{program}, cmd.Argv[1:]...)...)
	return s, nil
}

// shows reports whether the command can execute what is at p.
func (s *start) shows(p string) bool {
	return !s.confined || seatbelt.Shows(s.plan.Effective, s.run, p)
}

// advised adds which grant would show the command.
func advised(err error, plan platform.Plan, cmd Command) error {
	if ce, ok := err.(*CommandError); ok && ce.NotFound {
		ce.Advice = grantAdvice(plan, cmd)
	}
	return err
}

// begin starts the process. Nothing of ours is inherited but the three
// streams; signals are as after login(1).
func (s *start) begin(cmd Command) (*process, error) {
	closeOnExec()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, &SetupError{Step: "open", Path: os.DevNull, Reason: err.Error()}
	}
	defer null.Close()
	var files []uintptr
	for _, f := range []*os.File{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		if f == nil {
			f = null
		}
		files = append(files, f.Fd())
	}
	restore := catchIgnored()
	pid, err := syscall.ForkExec(s.argv[0], s.argv, &syscall.ProcAttr{
		Dir: cmd.Dir, Env: cmd.Env, Files: files,
		Sys: &syscall.SysProcAttr{Setsid: !cmd.Interactive},
	})
	if err != nil {
		restore()
		return nil, s.notStarted(cmd, err)
	}
	return newProcess(pid, s.file, !cmd.Interactive, restore), nil
}

func (s *start) notStarted(cmd Command, err error) error {
	if !s.confined {
		return &CommandError{Name: cmd.Argv[0], Reason: err.Error()}
	}
	return &SetupError{Step: "start", Path: seatbelt.Executable, Reason: err.Error()}
}

// systemShows reports directories that no policy lists and every profile
// shows, such as those of a package manager.
func systemShows(e policy.Effective, p string) bool {
	return seatbelt.Shows(e, seatbelt.Run{}, p)
}
