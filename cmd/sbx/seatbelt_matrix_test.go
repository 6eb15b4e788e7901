//go:build linux || (darwin && maccheck)

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/seatbelt/sbpltest"
)

// matrixSize is how many policies are tried.
const matrixSize = 100

// difference is where the kernel may decide otherwise than the profile.
type difference struct {
	name, reason string
	holds        func(p matrixPolicy, q question, got string, profile bool) bool
}

// allowedDifferences are those between bubblewrap and a profile. Whatever is
// not among them fails, and so does one that never occurs.
var allowedDifferences = []difference{
	{"ancestors", "macOS shows the attributes of directories above a grant; on Linux they are empty ones of the sandbox's own",
		func(p matrixPolicy, q question, got string, profile bool) bool {
			return profile && got == "other" && q.Do == "stat" && p.above(q.Path)
		}},
	{"across mounts", "a rename or link between two mounts is EXDEV on Linux, even of one file system; programs copy instead",
		func(_ matrixPolicy, q question, got string, profile bool) bool {
			return profile && got == "EXDEV" && (q.Do == "rename" || q.Do == "link")
		}},
	{"absent denies", "nothing can be mounted over what does not exist; the profile closes the name",
		func(p matrixPolicy, q question, got string, profile bool) bool {
			return !profile && got == "" && p.reserved(q.Path)
		}},
	{"above absent", "and it keeps the directories above in place, so that nothing is moved there",
		func(p matrixPolicy, q question, got string, profile bool) bool {
			return !profile && got == "" && q.Do == "rename" && p.aboveReserved(q.Path)
		}},
	{"later matches", "a mount covers what matches a pattern at the start; the profile has the pattern",
		func(p matrixPolicy, q question, got string, profile bool) bool {
			return !profile && got == "" && p.pattern && strings.HasSuffix(q.Path, ".key") && q.Do == "create"
		}},
}

// TestMacMatrix and TestSeatbeltMatrix run the same: on Linux bubblewrap
// stands for the policy as a kernel enforces it, on a Mac Seatbelt itself.
func TestMacMatrix(t *testing.T) {
	if runtime.GOOS == "darwin" {
		allowedDifferences = nil
		runMatrix(t)
	}
}

// TestSeatbeltMatrix compares what a kernel does under a policy with what the
// interpreter says about the profile of the same policy.
func TestSeatbeltMatrix(t *testing.T) {
	if runtime.GOOS == "linux" {
		runMatrix(t)
	}
}

// TestMatrixControl: outside of a sandbox every access works, so that what is
// refused inside was refused by the sandbox.
func TestMatrixControl(t *testing.T) {
	w := newWorld(t)
	probe, root := buildMatrixProbe(t, w), w.dir+"/t"
	require.NoError(t, growMatrixTree(root))
	questions, err := matrixQuestions(root)
	require.NoError(t, err)
	input, err := json.Marshal(questions)
	require.NoError(t, err)
	cmd := exec.Command(probe)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	require.NoError(t, err)
	var answers []string
	require.NoError(t, json.Unmarshal(out, &answers))
	for i, q := range questions {
		assert.Empty(t, answers[i], "%s %s %s", q.Do, q.Path, q.To)
	}
}

// TestMatrixSeesFaults takes rules out of the profiles: the comparison must
// notice each.
func TestMatrixSeesFaults(t *testing.T) {
	faults := []string{"(deny file-write-unlink", "(deny file-read*", "(deny file-write*", "(allow file-read* file-test-existence file-clone process-exec* file-write*"}
	for _, fault := range faults {
		t.Run(strings.Trim(fault, "("), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			m := &matrix{backend: matrixBackend(), probe: buildMatrixProbe(t, w), used: map[string]int{}, without: fault}
			for n := range uint64(12) {
				require.NoError(t, m.try(w, n, w.dir+"/t"))
			}
			assert.NotEmpty(t, m.wrong)
		})
	}
}

func matrixBackend() string {
	if runtime.GOOS == "darwin" {
		return "seatbelt"
	}
	return "bwrap"
}

// matrix is one run of all policies.
type matrix struct {
	backend, probe string
	without        string // rules that begin with this are taken out of the profiles

	mu                         sync.Mutex
	questions, allowed, refuse int
	used                       map[string]int
	wrong                      []string
}

func runMatrix(t *testing.T) {
	w := newWorld(t)
	m := &matrix{backend: matrixBackend(), probe: buildMatrixProbe(t, w), used: map[string]int{}}
	const lanes = 2
	var wg sync.WaitGroup
	for lane := range lanes {
		wg.Go(func() {
			for n := lane; n < matrixSize; n += lanes {
				if err := m.try(w, uint64(n), fmt.Sprintf("%s/t%d", w.dir, lane)); err != nil {
					m.report(fmt.Sprintf("policy %d: %v", n, err))
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d policies, %d accesses: %d allowed and %d refused by both", matrixSize, m.questions, m.allowed, m.refuse)
	for _, d := range allowedDifferences {
		t.Logf("%6d  %-14s %s", m.used[d.name], d.name, d.reason)
		assert.Positive(t, m.used[d.name], "the difference %q never occurs: drop it", d.name)
	}
	assert.Greater(t, m.allowed, matrixSize)
	assert.Greater(t, m.refuse, matrixSize)
	assert.Empty(t, m.wrong)
}

func buildMatrixProbe(t *testing.T, w *world) string {
	dir := w.dir + "/probe"
	require.NoError(t, os.Mkdir(dir, 0o755))
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", dir+"/probe", "../../testdata/matrix/probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir + "/probe"
}

// mostWrong bounds the list of what is wrong.
const mostWrong = 40

func (m *matrix) report(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.wrong) < mostWrong {
		m.wrong = append(m.wrong, what)
	}
}

// try asks all questions under one policy.
func (m *matrix) try(w *world, n uint64, root string) error {
	if err := growMatrixTree(root); err != nil {
		return err
	}
	before, err := snapshot(root)
	if err != nil {
		return err
	}
	p := newMatrixPolicy(n, root)
	flags := append([]string{"--ro", m.probe}, p.flags...)
	questions, err := matrixQuestions(root)
	if err != nil {
		return err
	}
	profile, err := m.profile(w, flags)
	if err != nil {
		return err
	}
	answers, err := m.ask(w, flags, questions)
	if err != nil {
		return fmt.Errorf("%q: %w", p.flags, err)
	}
	for i, q := range questions {
		m.compare(n, p, q, answers[i], profile.Allows(q.action(), sbpltest.SStar))
	}
	after, err := snapshot(root)
	if err == nil && before != after {
		err = fmt.Errorf("%q: the tree is not what it was: %s", p.flags, after)
	}
	return err
}

// profile renders the policy and compiles what came out.
func (m *matrix) profile(w *world, flags []string) (*sbpltest.Profile, error) {
	var rendered struct {
		Profile string
		Params  map[string]string
	}
	cmd := w.command(append([]string{"policy", "render", "--backend", "seatbelt", "--json"}, flags...)...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("render: %w: %s", err, out)
	}
	if err := json.Unmarshal(out, &rendered); err != nil {
		return nil, err
	}
	if m.without != "" {
		rendered.Profile = withoutRules(rendered.Profile, m.without)
	}
	return sbpltest.Compile(rendered.Profile, rendered.Params)
}

// withoutRules drops the rules that begin with a text. Lines that go on with a
// rule are indented.
func withoutRules(profile, begin string) string {
	var kept []string
	dropping := false
	for line := range strings.SplitSeq(profile, "\n") {
		if !strings.HasPrefix(line, " ") {
			dropping = strings.HasPrefix(line, begin)
		}
		if !dropping {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// ask lets the probe try all inside.
func (m *matrix) ask(w *world, flags []string, questions []question) (answers []string, err error) {
	input, err := json.Marshal(questions)
	if err != nil {
		return nil, err
	}
	argv := append([]string{"run", "--quiet", "--backend", m.backend}, flags...)
	cmd := w.command(append(argv, "--", m.probe)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run: %w: %s", err, stderr.String())
	}
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(questions) {
		return nil, fmt.Errorf("%d answers to %d questions: %v", len(answers), len(questions), err)
	}
	return answers, nil
}

func (m *matrix) compare(n uint64, p matrixPolicy, q question, got string, profile bool) {
	m.mu.Lock()
	m.questions++
	kernel := got == ""
	var known string
	switch {
	case kernel && profile:
		m.allowed++
	case !kernel && !profile:
		m.refuse++
	default:
		for _, d := range allowedDifferences {
			if known == "" && d.holds(p, q, got, profile) {
				known = d.name
				m.used[known]++
			}
		}
	}
	m.mu.Unlock()
	if kernel != profile && known == "" || strings.HasPrefix(got, "undo") {
		m.report(fmt.Sprintf("policy %d %q: %s %s %s: %q, the profile allows it: %t", n, p.flags, q.Do, q.Path, q.To, got, profile))
	}
}

// snapshot describes a tree without its inodes.
func snapshot(root string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, link := []byte(nil), ""
		switch {
		case info.Mode().IsRegular():
			content, err = os.ReadFile(p)
		case info.Mode()&os.ModeSymlink != 0:
			link, err = os.Readlink(p)
		}
		fmt.Fprintf(&b, "%s %s %q %s\n", strings.TrimPrefix(p, root), info.Mode(), content, link)
		return err
	})
	return b.String(), err
}
