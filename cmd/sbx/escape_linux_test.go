package main_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leastBareEscapes is how many attacks must get through bubblewrap with a
// usual command line: a suite that everything passes proves nothing.
const leastBareEscapes = 100

// suite is one run of all cases as one user.
type suite struct {
	user   string // root or user
	dir    string
	arms   []arm
	vars   map[string]string
	absent map[arm]string // arms that cannot be had here, with the reason

	mu   sync.Mutex
	rows []row
}

// row is a case with its outcomes.
type row struct {
	c        escapeCase
	outcomes map[arm]outcome
	skipped  string
}

// TestEscape attacks the host from inside. Each case is run without a
// sandbox, where it must succeed; through a usual bubblewrap command line,
// where many do; and through each backend of sbx, where none may but those
// that are pinned to the name of the guarantee that the backend cannot give.
//
// The probe is built unless SBX_PROBE names it. The table goes to the log,
// and to the file that SBX_ESCAPE_TABLE names.
func TestEscape(t *testing.T) {
	cases, err := loadEscapeCases()
	require.NoError(t, err)
	s := newSuite(t)
	defer func() { s.print(t) }()
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) { s.attack(t, c) })
	}
	if selected(t, len(cases), len(s.rows)) {
		s.discriminates(t)
	}
}

// selected reports whether all cases were run, not some by -run.
func selected(t *testing.T, all, run int) bool { return all == run && !t.Failed() }

func newSuite(t *testing.T) *suite {
	dir, err := filepath.EvalSymlinks(shortTempDir(t))
	require.NoError(t, err)
	host, err := os.Hostname()
	require.NoError(t, err)
	uts, err := os.Readlink("/proc/self/ns/uts")
	require.NoError(t, err)
	s := &suite{user: "user", dir: dir, absent: map[arm]string{}, vars: map[string]string{
		"SBX": absolute(t, binary), "PROBE": probeProgram(t, dir), "CACHE": dir + "/cache", "HOSTNAME": host, "UTS": uts,
	}}
	if os.Getuid() == 0 {
		s.user = "root"
	}
	s.findArms(t)
	return s
}

// shortTempDir keeps names below the 108 bytes of a unix socket's address.
func shortTempDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "esc")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, removeTree(dir)) })
	return dir
}

func absolute(t *testing.T, p string) string {
	abs, err := filepath.Abs(p)
	require.NoError(t, err)
	return abs
}

// probeProgram returns the static probe. It lies alone in a directory, so that
// granting it grants nothing else.
func probeProgram(t *testing.T, dir string) string {
	program := dir + "/probe"
	if given := os.Getenv("SBX_PROBE"); given != "" {
		content, err := os.ReadFile(given)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(program, content, 0o755))
		return program
	}
	build := exec.Command("go", "build", "-trimpath", "-o", program, "./"+escapeDir+"/probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// findArms tries each arm on nothing. Under SBX_MUST_WORK one that is missing
// is a failure.
func (s *suite) findArms(t *testing.T) {
	s.arms = []arm{outside}
	s.vars["BWRAP"], _ = exec.LookPath("bwrap")
	for _, a := range []arm{bare, bwrap, builtin} {
		o := s.once(escapeCase{ID: "trial", Attack: "nothing", Do: "nothing", Flags: "--rw $WS", Rounds: 1}, a)
		if o.state == allowed {
			s.arms = append(s.arms, a)
			continue
		}
		s.absent[a] = o.why
		if os.Getenv("SBX_MUST_WORK") != "" {
			t.Errorf("the arm %s cannot be had: %s", a, o.why)
		}
	}
}

// attack runs one case through all arms and compares.
func (s *suite) attack(t *testing.T, c escapeCase) {
	r := row{c: c, outcomes: map[arm]outcome{}}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rows = append(s.rows, r)
	}()
	if r.skipped = s.skip(c); r.skipped != "" {
		return
	}
	for _, a := range s.arms {
		o := s.once(c, a)
		r.outcomes[a] = o
		require.NotEqual(t, broken, o.state, "%s, %s: %s", c.place, a, o.why)
		if a == outside && s.lacks(t, c, o) {
			r.skipped = o.why
			return
		}
	}
	s.compare(t, r)
}

// skip says why a case is not for this user.
func (s *suite) skip(c escapeCase) string {
	if c.As != "" && c.As != s.user {
		return "only as " + c.As
	}
	return ""
}

// once runs an arm in a stage of its own.
func (s *suite) once(c escapeCase, a arm) (o outcome) { return s.report(c, a, nil) }

// report is once, and also gives what was printed on stdout. A session keyring
// belongs to a thread and ends with it, so it gets one for itself; for others
// that would only cost time.
func (s *suite) report(c escapeCase, a arm, stdout *string) (o outcome) {
	done := make(chan outcome)
	go func() {
		if slices.Contains(c.Host, "session-key") {
			runtime.LockOSThread()
		}
		o, err := s.perform(c, a, stdout)
		if err != nil {
			o = outcome{state: broken, why: err.Error()}
		}
		done <- o
	}()
	return <-done
}

func (s *suite) perform(c escapeCase, a arm, stdout *string) (o outcome, err error) {
	dir, err := os.MkdirTemp(s.dir, "w")
	if err != nil {
		return o, err
	}
	if err := os.Remove(dir); err != nil {
		return o, err
	}
	st, err := newStage(c, a, dir, s.vars)
	defer func() {
		if cerr := st.close(); err == nil {
			err = cerr
		}
	}()
	var missing *stageError
	if errors.As(err, &missing) && missing.lacking() && a == outside {
		return outcome{state: lacking, why: missing.Error()}, nil
	}
	if err != nil {
		return o, err
	}
	return st.rounds(c, a, stdout)
}

// rounds runs an attack as often as the case says. One success counts. A race
// may need more: without a sandbox until it is won, as it must be, and inside
// until one launch gets through.
func (s *stage) rounds(c escapeCase, a arm, stdout *string) (stopped outcome, err error) {
	const most = 10
	started := false
	again := func() bool { return c.Rounds > 1 && (!started || a == outside) }
	for n := 0; n < c.Rounds || again() && n < most*c.Rounds; n++ {
		e, err := s.execute(c, a)
		if err != nil {
			return outcome{}, fmt.Errorf("%v: %w", s.command(c, a), err)
		}
		if stdout != nil {
			*stdout = e.stdout
		}
		o, err := s.judge(c, a, e)
		if err != nil || o.state == allowed || o.state == broken {
			return o, err
		}
		if started = started || o.state == blocked; stopped.state != blocked {
			stopped = o
		}
	}
	if c.Rounds > 1 && !started {
		return outcome{state: broken, why: "no launch got through: " + stopped.why}, nil
	}
	return stopped, nil
}

// lacks reports whether the control arm shows that there is nothing to
// attack here, which only a case that says so may.
func (s *suite) lacks(t *testing.T, c escapeCase, o outcome) bool {
	absent := o.state == lacking || o.state == blocked && c.Lacks != "" && strings.Contains(
		" ENOSYS EAFNOSUPPORT EPROTONOSUPPORT ESOCKTNOSUPPORT ENODEV ENXIO EOPNOTSUPP ENOENT ", " "+o.errno+" ")
	if absent {
		assert.NotEmpty(t, c.Lacks, "%s: no machine was said to lack this: %s", c.place, o.why)
	}
	return absent
}

// compare holds the outcomes against what the case says.
func (s *suite) compare(t *testing.T, r row) {
	c := r.c
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s (%s): %s", c.place, c.ID, c.Attack, fmt.Sprintf(format, args...))
	}
	control := r.outcomes[outside]
	if c.Expect == "block" && control.state != allowed && !c.Control.holds(s.user) {
		fail("blocked without a sandbox too, so it proves little, and that is not pinned: %s, %s", control, control.why)
	}
	for _, a := range []arm{bwrap, builtin} {
		o, ran := r.outcomes[a]
		if !ran || c.Expect == "info" {
			continue
		}
		good := o.state == blocked || o.state == refused && c.Refusal
		if c.Expect == "works" {
			good = o.state == allowed
		}
		gap, defect := c.gap(string(a), s.user), c.defect(string(a), s.user)
		switch pinned := gap != nil || defect != nil; {
		case pinned && good && gap != nil && gap.sometimes:
		case pinned && good:
			fail("%s holds here after all, so the pin is stale: %s, %s", a, o, o.why)
		case !pinned && !good:
			fail("%s: %s, %s", a, o, o.why)
		case gap != nil && o.state == allowed && c.Expect == "block":
			if held, why := s.promises(c, a, gap.guarantee); held {
				fail("%s promises %q for this run and does not keep it: %s", a, gap.guarantee, why)
			}
		}
	}
}

// promises asks the report of a run with the same policy whether it claims a
// guarantee.
func (s *suite) promises(c escapeCase, a arm, guarantee string) (held bool, why string) {
	c.Do, c.Run, c.Signal, c.Via, c.Open, c.Effect, c.Rounds = "nothing", "", "", "", nil, nil, 1
	c.Flags = "--json " + c.Flags
	var text string
	o := s.report(c, a, &text)
	var report struct {
		Guarantees []struct {
			Name, Detail string
			Held         bool
		}
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		return true, fmt.Sprintf("no report: %s, %v", o.why, err)
	}
	for _, g := range report.Guarantees {
		if g.Name == guarantee {
			return g.Held, g.Detail
		}
	}
	return false, "not a guarantee of the list"
}

// discriminates demands that the suite finds holes where there are some.
func (s *suite) discriminates(t *testing.T) {
	through := 0
	for _, r := range s.rows {
		if r.c.Expect == "block" && r.outcomes[bare].state == allowed {
			through++
		}
	}
	if _, ran := s.absent[bare]; ran {
		return
	}
	assert.GreaterOrEqual(t, through, leastBareEscapes, "attacks that get through a usual bubblewrap command line")
}
