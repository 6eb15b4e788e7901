package main_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// escapeDir holds the corpus; its README describes the format.
const escapeDir = "../../testdata/escape"

// escapeCase is one attack, or one thing that must go on working.
type escapeCase struct {
	ID     string // of the catalogue, with a letter for variants
	Attack string // what it tries, in one line
	As     string // "root" or "user" where only one of them makes sense
	Expect string // block, works or info

	Tree   []string // files to make first
	Host   []string // listeners, victims and objects of the host
	Env    []string // variables of whoever starts the sandbox
	Open   []string // what standard streams and inherited descriptors are
	Flags  string   // policy, as flags of sbx run
	Bare   string   // what a usual bubblewrap command line adds
	Cwd    string   // where the run is started
	Via    string   // wrapper outside of the sandbox
	Do     string   // the probe's verb and arguments
	Run    string   // instead of Do: a whole command
	Signal string   // sent to the launcher once the probe has spoken
	Rounds int      // how often, for races; one success counts

	Effect []string // what must be true on the host for the attack to count

	Refusal bool       // an error instead of a run is a good answer
	Lacks   string     // why a machine may not have what is attacked
	Control *pinned    // the control arm may be blocked, and why
	Gaps    []gap      // backends that cannot give a guarantee
	Defects []gap      // backends that could, and do not yet
	place   sourceLine // for messages
}

// pinned says for whom a statement holds: all, root or user.
type pinned struct{ who, reason string }

func (p *pinned) holds(user string) bool {
	return p != nil && (p.who == "all" || p.who == user)
}

// gap is a row that a backend does not block, with the guarantee that is
// missing; a defect misses none by its nature, and is to be closed.
type gap struct {
	backend, guarantee string
	sometimes          bool // it depends on the kernel or the moment
	pinned
}

func (c escapeCase) gap(backend, user string) *gap    { return find(c.Gaps, backend, user) }
func (c escapeCase) defect(backend, user string) *gap { return find(c.Defects, backend, user) }

func find(list []gap, backend, user string) *gap {
	for i, g := range list {
		if g.backend == backend && g.holds(user) {
			return &list[i]
		}
	}
	return nil
}

type sourceLine struct {
	file string
	line int
}

func (s sourceLine) String() string { return fmt.Sprintf("%s:%d", s.file, s.line) }

// loadEscapeCases reads all files of the corpus.
func loadEscapeCases() ([]escapeCase, error) {
	files, err := filepath.Glob(escapeDir + "/*.case")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no cases in %s: %w", escapeDir, err)
	}
	var all []escapeCase
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		cases, err := parseCases(filepath.Base(name), bufio.NewScanner(f))
		f.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

// parseCases reads paragraphs of "key: value" lines. A line that begins with
// a space continues the one before; "#" begins a comment.
func parseCases(file string, s *bufio.Scanner) (cases []escapeCase, err error) {
	var lines []string
	var starts []sourceLine
	flush := func() error {
		if len(lines) == 0 {
			return nil
		}
		c := escapeCase{place: starts[0]}
		for i, line := range lines {
			if err := c.set(line); err != nil {
				return fmt.Errorf("%s: %w", starts[i], err)
			}
		}
		lines, starts = nil, nil
		if err := c.complete(); err != nil {
			return fmt.Errorf("%s: %w", c.place, err)
		}
		cases = append(cases, c)
		return nil
	}
	for number := 1; s.Scan(); number++ {
		switch line := s.Text(); {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			if err := flush(); err != nil {
				return nil, err
			}
		case line[0] == ' ' && len(lines) > 0:
			lines[len(lines)-1] += " " + strings.TrimSpace(line)
		default:
			lines, starts = append(lines, line), append(starts, sourceLine{file, number})
		}
	}
	if err := flush(); err != nil {
		return nil, err
	}
	return cases, s.Err()
}

// set takes one line over. Keys that can hold one value refuse a second.
func (c *escapeCase) set(line string) error {
	key, value, ok := strings.Cut(line, ":")
	if value = strings.TrimSpace(value); !ok || value == "" {
		return fmt.Errorf("want key: value, got %q", line)
	}
	if list, ok := map[string]*[]string{
		"tree": &c.Tree, "host": &c.Host, "env": &c.Env, "open": &c.Open, "effect": &c.Effect,
	}[key]; ok {
		*list = append(*list, value)
		return nil
	}
	if text, ok := map[string]*string{
		"id": &c.ID, "attack": &c.Attack, "as": &c.As, "expect": &c.Expect, "flags": &c.Flags, "bare": &c.Bare,
		"cwd": &c.Cwd, "via": &c.Via, "do": &c.Do, "run": &c.Run, "signal": &c.Signal, "lacks": &c.Lacks,
	}[key]; ok {
		if *text != "" {
			return fmt.Errorf("%s is given twice", key)
		}
		*text = value
		return nil
	}
	return c.setOther(key, value)
}

func (c *escapeCase) setOther(key, value string) error {
	switch key {
	case "rounds":
		_, err := fmt.Sscan(value, &c.Rounds)
		return err
	case "refusal":
		c.Refusal = value == "good"
		if !c.Refusal {
			return fmt.Errorf("refusal: want good, got %q", value)
		}
	case "control":
		who, reason, err := splitReason(value)
		c.Control = &pinned{who, reason}
		return err
	case "gap":
		g, err := parseGap(value)
		if err == nil && g.guarantee == "" {
			err = fmt.Errorf("want gap: BACKEND[/USER] GUARANTEE [sometimes] -- REASON, got %q", value)
		}
		c.Gaps = append(c.Gaps, g)
		return err
	case "defect":
		g, err := parseGap(value)
		if err == nil && g.guarantee != "" {
			err = fmt.Errorf("want defect: BACKEND[/USER] -- REASON, got %q", value)
		}
		c.Defects = append(c.Defects, g)
		return err
	default:
		return fmt.Errorf("no such key: %q", key)
	}
	return nil
}

// parseGap reads BACKEND[/USER] [GUARANTEE [sometimes]] -- REASON.
func parseGap(value string) (g gap, err error) {
	head, reason, err := splitReason(value)
	if err != nil {
		return g, err
	}
	fields := append(strings.Fields(head), "", "")
	backend, who, one := strings.Cut(fields[0], "/")
	if !one {
		who = "all"
	}
	if !slices.Contains([]string{"bwrap", "builtin"}, backend) || !slices.Contains([]string{"all", "root", "user"}, who) {
		return g, fmt.Errorf("no such backend and user: %q", fields[0])
	}
	return gap{backend: backend, guarantee: fields[1], sometimes: fields[2] == "sometimes", pinned: pinned{who, reason}}, nil
}

func splitReason(value string) (head, reason string, err error) {
	head, reason, ok := strings.Cut(value, " -- ")
	if !ok || reason == "" {
		return "", "", fmt.Errorf("a reason is missing after --: %q", value)
	}
	return strings.TrimSpace(head), strings.TrimSpace(reason), nil
}

// complete checks what every case must have.
func (c *escapeCase) complete() error {
	switch {
	case c.ID == "" || c.Attack == "":
		return fmt.Errorf("%q: id and attack are needed", c.ID)
	case !slices.Contains([]string{"block", "works", "info"}, c.Expect):
		return fmt.Errorf("%s: expect: want block, works or info, got %q", c.ID, c.Expect)
	case !slices.Contains([]string{"", "root", "user"}, c.As):
		return fmt.Errorf("%s: as: want root or user, got %q", c.ID, c.As)
	case (c.Do == "") == (c.Run == ""):
		return fmt.Errorf("%s: want either do or run", c.ID)
	case c.Run != "" && len(c.Effect) == 0:
		return fmt.Errorf("%s: a command without the probe is judged by its effect, which is missing", c.ID)
	}
	if c.Flags == "" {
		c.Flags = "--rw $WS"
	}
	if c.Rounds == 0 {
		c.Rounds = 1
	}
	return nil
}
