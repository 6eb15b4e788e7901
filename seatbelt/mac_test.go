//go:build darwin && maccheck

package seatbelt

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/policy"
	"github.com/stretchr/testify/require"
)

// These tests put questions to a real kernel, which nobody has answered in
// public. No answer is a failure: the renderer depends on none of them. The
// table is what to report, with the version at its top.

// helperEnv makes the test binary do one thing and exit: 0 if that worked.
const helperEnv = "SBX_MAC_HELPER"

func TestMain(m *testing.M) {
	if what := os.Getenv(helperEnv); what != "" {
		if err := help(strings.Split(what, "|")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// help does what no program of the system does alone.
func help(words []string) error {
	switch words[0] {
	case "clone":
		return unix.Clonefile(words[1], words[2], 0)
	case "pidinfo":
		pid, err := strconv.Atoi(words[1])
		if err != nil {
			return err
		}
		return pidinfo(pid)
	}
	return errors.New("unknown helper " + words[0])
}

// opened allows all that a program needs but the operations in question.
const opened = `(version 1)
(deny default)
(allow file-read* file-write* file-ioctl file-map-executable process-exec* process-fork
  signal sysctl-read mach-lookup ipc-posix* system-socket network*)
`

// bench is a directory with what the questions are about.
type bench struct {
	t   *testing.T
	dir string
}

func newBench(t *testing.T) bench {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	b := bench{t, dir}
	for _, name := range []string{"source", "Secret/x", "caf\u00e9", "e\u0301te"} {
		b.write(name)
	}
	return b
}

func (b bench) write(name string) {
	p := filepath.Join(b.dir, name)
	require.NoError(b.t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(b.t, os.WriteFile(p, []byte("content\n"), 0o644))
}

// at is a path in the directory, at the place of a string literal.
func (b bench) at(name string) string { return quote(filepath.Join(b.dir, name)) }

// ended is how a command ended under a profile.
type ended struct {
	code   int
	stderr string
}

func (e ended) worked() bool { return e.code == 0 }

// under runs a command under a profile, with parameters as NAME=VALUE.
func (b bench) under(profile string, params []string, env []string, command ...string) ended {
	file := filepath.Join(b.t.TempDir(), "p.sb")
	require.NoError(b.t, os.WriteFile(file, []byte(profile), 0o600))
	argv := []string{"-f", file}
	for _, p := range params {
		argv = append(argv, "-D", p)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, Executable, append(append(argv, "--"), command...)...)
	cmd.Dir, cmd.Env = b.dir, append([]string{"PATH=/usr/bin:/bin"}, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && !exit.Exited():
		return ended{134, stderr.String()}
	case errors.As(err, &exit):
		return ended{exit.ExitCode(), stderr.String()}
	case err != nil:
		return ended{-1, err.Error()}
	}
	return ended{0, stderr.String()}
}

func (b bench) plain(profile string, command ...string) ended {
	return b.under(profile, nil, nil, command...)
}

// helper runs this test binary as a helper.
func (b bench) helper(profile string, words ...string) ended {
	self, err := os.Executable()
	require.NoError(b.t, err)
	return b.under(profile, nil, []string{helperEnv + "=" + strings.Join(words, "|")}, self)
}

// row is one question with its answer.
type row struct{ id, question, answer string }

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// TestMacQuestions prints the table of open questions.
func TestMacQuestions(t *testing.T) {
	b := newBench(t)
	var rows []row
	add := func(id, question, answer string) { rows = append(rows, row{id, question, answer}) }
	control := b.plain(opened, "/bin/cat", "source")
	require.True(t, control.worked(), "control: nothing can be asked under an open profile: %s", control.stderr)

	add("a1", "(deny default) refuses hard links", yesNo(!b.plain(opened, "/bin/ln", "source", "linked").worked()))
	add("a2", "(deny default) refuses clones", yesNo(!b.helper(opened, "clone", "source", "cloned").worked()))
	add("a3", "(deny default) refuses process information on others", yesNo(!b.helper(opened, "pidinfo", strconv.Itoa(os.Getpid())).worked()))

	const open = "(version 1)\n(allow default)\n"
	refused := func(rule string, command ...string) string { return yesNo(!b.plain(open+rule, command...).worked()) }
	add("b1", "subpath in another case covers an existing name", refused("(deny file-read* (subpath "+b.at("SECRET")+"))", "/bin/cat", "Secret/x"))
	add("b2", "literal in another case covers an existing name", refused("(deny file-read* (literal "+b.at("SECRET/x")+"))", "/bin/cat", "Secret/x"))
	add("b3", "regex in another case covers an existing name", refused("(deny file-read* (regex "+quote("^"+escape(b.dir)+"/SECRET(/.*)?$")+"))", "/bin/cat", "Secret/x"))
	add("b4", "an existing name is reported as stored, not as asked for", refused("(deny file-read* (literal "+b.at("Secret/x")+"))", "/bin/cat", "SECRET/X"))
	add("b5", "subpath in another case covers a new name", refused("(deny file-write-create (subpath "+b.at("NEW1")+"))", "/usr/bin/touch", "new1"))
	add("b6", "literal in another case covers a new name", refused("(deny file-write-create (literal "+b.at("NEW2")+"))", "/usr/bin/touch", "new2"))

	b.tags(add)
	b.sizes(add)

	add("e1", "a decomposed rule covers a composed stored name", refused("(deny file-read* (literal "+b.at("cafe\u0301")+"))", "/bin/cat", "caf\u00e9"))
	add("e2", "a composed rule covers a decomposed stored name", refused("(deny file-read* (literal "+b.at("\u00e9te")+"))", "/bin/cat", "e\u0301te"))
	add("e3", "a name is reported as stored, not as asked for", refused("(deny file-read* (literal "+b.at("caf\u00e9")+"))", "/bin/cat", "cafe\u0301"))

	home, err := os.UserHomeDir()
	require.NoError(t, err)
	add("f1", "a rule for /Users covers /System/Volumes/Data/Users", refused("(deny file-read-data (literal "+quote(home)+"))", "/bin/ls", dataVolume+home))
	add("f2", "a rule for /System/Volumes/Data/Users covers /Users", refused("(deny file-read-data (literal "+quote(dataVolume+home)+"))", "/bin/ls", home))

	unreadable := open + "(deny file-read* (literal " + b.at("source") + "))"
	add("g", "an unreadable file cannot be cloned", yesNo(!b.helper(unreadable, "clone", "source", "cloned-2").worked()))

	add("h1", "of two plain rules, allow then deny, the deny wins", refused("(allow file-write-create)\n(deny file-write-create)", "/usr/bin/touch", "h1"))
	add("h2", "of two plain rules, deny then allow, the allow wins", yesNo(b.plain(open+"(deny file-write-create)\n(allow file-write-create)", "/usr/bin/touch", "h2").worked()))
	add("h3", "a plain deny at the end beats an allow with a filter", refused("(allow file-write-create (subpath "+b.at("")+"))\n(deny file-write-create)", "/usr/bin/touch", "h3"))
	add("h4", "a rule for an operation beats a later one for its wildcard", yesNo(b.plain(open+"(allow file-read-data (literal "+b.at("source")+"))\n(deny file-read* (literal "+b.at("source")+"))", "/usr/bin/wc", "source").worked()))

	long := "/" + strings.Repeat(strings.Repeat("a", 99)+"/", 15) + "a"
	add("i", "a parameter of 1,500 bytes is taken", yesNo(b.under(open+`(deny file-read* (literal (param "P")))`, []string{"P=" + long}, nil, "/usr/bin/true").worked()))

	b.failures(add)
	printTable(t, rows)
}

// sizes finds where the compiler gives up.
func (b bench) sizes(add func(id, question, answer string)) {
	largest := func(sizes []int, profile func(n int) string) string {
		taken := "none"
		for _, n := range sizes {
			e := b.plain(profile(n), "/usr/bin/true")
			if !e.worked() {
				return fmt.Sprintf("%s; %d: %s", taken, n, Words(e.stderr))
			}
			taken = strconv.Itoa(n)
		}
		return taken + ", the largest tried"
	}
	add("d1", "bytes of a literal", largest([]int{900, 1023, 1024, 1025, 1026, 2048, 8192}, func(n int) string {
		return "(version 1)\n(allow default)\n(deny file-read* (literal " + quote("/"+strings.Repeat("a", n-1)) + "))"
	}))
	filters := func(n int, join string) string {
		var s strings.Builder
		for i := 0; s.Len() < n; i++ {
			fmt.Fprintf(&s, "%s(literal \"/no/such/place/%06d/%s\")", join, i, strings.Repeat("x", 60))
		}
		return s.String()
	}
	add("d2", "bytes of one rule", largest([]int{12 << 10, 60 << 10, 70 << 10, 250 << 10}, func(n int) string {
		return "(version 1)\n(allow default)\n(deny file-read*" + filters(n, "\n") + ")"
	}))
	add("d3", "bytes of all rules", largest([]int{48 << 10, 70 << 10, 250 << 10, 1 << 20}, func(n int) string {
		return "(version 1)\n(allow default)\n" + strings.ReplaceAll(filters(n, "\n(deny file-read* "), `")`, `"))`)
	}))
}

// failures shows the exit codes of sandbox-exec, and that the words by which
// Judge tells them apart are the system's.
func (b bench) failures(add func(id, question, answer string)) {
	say := func(e ended) string {
		return fmt.Sprintf("%d, %v: %s", e.code, Judge(e.code, e.stderr), Words(e.stderr))
	}
	add("j1", "a faulty profile (want 65, outcome 1)", say(b.plain("(version 1)\n(alow default)", "/usr/bin/true")))
	add("j2", "a sandbox in a sandbox (want 71, outcome 2)", say(b.plain("(version 1)\n(allow default)\n(deny file-write* (literal \"/no/such\"))",
		Executable, "-p", "(version 1)(allow default)(deny sysctl-read)", "/usr/bin/true")))
	add("j3", "no such command (want 71, outcome 3)", say(b.plain("(version 1)\n(allow default)", "/no/such/command")))
	closed := "(version 1)\n(deny default)\n(allow process-exec* process-fork)\n"
	add("j4", "nothing readable (134 is outcome 4)", say(b.plain(closed, "/usr/bin/true")))
	p, err := Render(policy.Effective{}, Run{})
	require.NoError(b.t, err)
	add("j5", "the rendered profile of an empty policy (want 0)", say(b.plain(p.Text, "/usr/bin/true")))
	add("j6", "/bin/sh and /bin/ls under it (want 0)", say(b.plain(p.Text, "/bin/sh", "-c", "/bin/ls /usr/bin >/dev/null")))
	add("j7", "the same without the root directory", say(b.plain(strings.ReplaceAll(p.Text, `(literal "/")`, `(literal "/no/such")`), "/usr/bin/true")))
}

// tags asks whether refusals carry the message of their rule into the log.
func (b bench) tags(add func(id, question, answer string)) {
	const tag = "sbx-mac-check"
	argv := LogArgv(tag)
	log := exec.Command(argv[0], argv[1:]...)
	out, err := log.StdoutPipe()
	require.NoError(b.t, err)
	if err := log.Start(); err != nil {
		add("c", "the log can be read", err.Error())
		return
	}
	found := make(chan map[string]bool, 1)
	begun := make(chan struct{})
	go func() {
		seen, once := map[string]bool{}, false
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if !once && LogBegun(lines.Text()) {
				once = true
				close(begun)
			}
			if r, ok := ParseRefusal(lines.Text(), tag); ok {
				seen[filepath.Base(r.Object)] = true
			}
		}
		found <- seen
	}()
	select {
	case <-begun:
	case <-time.After(3 * time.Second):
	}
	e := policy.Effective{Area: policy.NewArea(
		policy.Entry{Path: b.dir, Access: policy.ReadWrite, Kind: policy.Granted, Type: policy.TypeDir},
		policy.Entry{Path: b.dir + "/source", Kind: policy.Hidden, Type: policy.TypeFile},
	)}
	p, err := Render(e, Run{Tag: tag})
	require.NoError(b.t, err)
	b.plain(p.Text, "/bin/cat", "source")
	b.plain(p.Text, "/bin/cat", "/private/etc/ttys")
	time.Sleep(2 * time.Second)
	_ = log.Process.Kill()
	_ = log.Wait()
	seen := <-found
	add("c1", "refusals by a rule are logged with the tag", yesNo(seen["source"]))
	add("c2", "refusals by default are logged with the tag", yesNo(seen["ttys"]))
}

// pidinfo asks for PROC_PIDTBSDINFO of a process, proc_info(2).
func pidinfo(pid int) error {
	const call, flavor = 2, 3
	buf := make([]byte, 256)
	n, _, errno := unix.Syscall6(unix.SYS_PROC_INFO, call, uintptr(pid), flavor, 0, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	runtime.KeepAlive(buf)
	if errno != 0 {
		return errno
	}
	if n == 0 {
		return errors.New("nothing was told")
	}
	return nil
}

func printTable(t *testing.T, rows []row) {
	product, _ := unix.Sysctl("kern.osproductversion")
	build, _ := unix.Sysctl("kern.osversion")
	machine, _ := unix.Sysctl("hw.machine")
	var out strings.Builder
	fmt.Fprintf(&out, "\nmacOS %s (%s) %s\n", product, build, machine)
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.id, r.question, r.answer)
	}
	require.NoError(t, w.Flush())
	fmt.Println(out.String())
}
