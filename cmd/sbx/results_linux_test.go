package main_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// runOutcome is what "run --json" prints, as a program in another language reads
// it.
type runOutcome struct {
	ExitCode        int    `json:"exit_code"`
	Signal          int    `json:"signal"`
	TimedOut        bool   `json:"timed_out"`
	Stdout          string `json:"stdout"`
	Stderr          string `json:"stderr"`
	StdoutBase64    []byte `json:"stdout_base64"`
	StderrBase64    []byte `json:"stderr_base64"`
	StdoutTruncated bool   `json:"stdout_truncated"`
	StderrTruncated bool   `json:"stderr_truncated"`
	DurationMS      int64  `json:"duration_ms"`
	Backend         string `json:"backend"`
	Guarantees      []struct {
		Name string
		Held bool
	} `json:"guarantees"`
	Notes   []string          `json:"notes"`
	Denials []json.RawMessage `json:"denials"`
	Error   *struct{ Kind, Message, Hint string }
}

// result runs sbx with JSON output and reads it.
func (w *world) result(cmd *exec.Cmd) (runOutcome, ended) {
	w.t.Helper()
	got := w.finish(cmd)
	var o runOutcome
	require.NoError(w.t, json.Unmarshal([]byte(got.stdout), &o), "%s%s", got.stdout, got.stderr)
	return o, got
}

// exactSignals reports whether the kernel tells a signal from exit 128+n for a
// process that is not a child (Linux 6.15).
func exactSignals(t *testing.T) bool {
	t.Helper()
	var name unix.Utsname
	require.NoError(t, unix.Uname(&name))
	var major, minor int
	_, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	require.NoError(t, err)
	return major > 6 || major == 6 && minor >= 15
}

// TestExitCodes is the table of the contract, for every cause: as the process
// ends and as the object says.
func TestExitCodes(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		w.write("ws/plain", "text")
		script := w.write("ws/script", "#!/no/such/interpreter\n")
		require.NoError(t, os.Chmod(script, 0o755))
		folded := 0
		if run()[3] == "bwrap" && !exactSignals(t) {
			folded = 15
		}
		for _, row := range []struct {
			name         string
			args         []string
			code, signal int
			kind         string // of an error; empty where the command ran
		}{
			{"success", []string{"--", "true"}, 0, 0, ""},
			{"its own status", []string{"-c", "exit 42"}, 42, 0, ""},
			{"1, as bubblewrap's failures", []string{"-c", "exit 1"}, 1, 0, ""},
			{"125 of the command", []string{"-c", "exit 125"}, 125, 0, ""},
			{"a status above 128", []string{"-c", "exit 143"}, 143, folded, ""},
			{"TERM", []string{"-c", "kill -TERM $$"}, 143, 15, ""},
			{"KILL", []string{"-c", "kill -KILL $$"}, 137, 9, ""},
			{"SEGV", []string{"-c", "kill -SEGV $$"}, 139, 11, ""},
			{"a real-time signal", []string{"-c", "kill -40 $$"}, 168, 40, ""},
			{"time-out", []string{"--timeout", "200ms", "--", "sleep", "60"}, 124, 15, ""},
			{"time-out, TERM ignored", []string{"--timeout", "200ms", "-c", "trap '' TERM; sleep 60; sleep 60"}, 124, 9, ""},
			{"time-out, TERM handled", []string{"--timeout", "200ms", "-c", "trap 'exit 3' TERM; sleep 60 & wait"}, 124, 0, ""},
			{"time-out while stopped", []string{"--timeout", "200ms", "-c", "kill -STOP $$"}, 124, 15, ""},
			{"no such root", []string{"--ro", "no/such/root", "--", "true"}, 125, 0, "config"},
			{"no such flag", []string{"--no-such-flag", "--", "true"}, 125, 0, "usage"},
			{"no such backend", []string{"--backend", "none-such", "--", "true"}, 125, 0, "backend_unavailable"},
			{"a file without permission", []string{"--ro", ".", "--", "./plain"}, 126, 0, "command"},
			{"a directory", []string{"--ro", ".", "--", "/usr"}, 126, 0, "command"},
			{"a missing interpreter", []string{"--ro", ".", "--", "./script"}, 126, 0, "command"},
			{"not found", []string{"--", "no-such-command"}, 127, 0, "command"},
			{"not found by path", []string{"--", "/no/such/command"}, 127, 0, "command"},
		} {
			t.Run(row.name, func(t *testing.T) {
				assert.Equal(t, row.code, w.sbx(run(row.args...)...).code)
				if row.kind == "usage" {
					return // flags are not known yet when they are wrong
				}
				o, got := w.result(w.command(run(append([]string{"--json"}, row.args...)...)...))
				assert.Equal(t, row.code, got.code)
				if row.kind != "" {
					require.NotNil(t, o.Error)
					assert.Equal(t, row.kind, o.Error.Kind)
					return
				}
				assert.Equal(t, row.code, o.ExitCode)
				assert.Equal(t, row.signal, o.Signal)
				assert.Equal(t, row.code == 124, o.TimedOut)
			})
		}
	})
}

func TestJSONResult(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		o, _ := w.result(w.command(run("--json", "--ro", ".", "-c", "echo out; echo err >&2; pwd")...))
		assert.Equal(t, "out\n"+w.cwd+"\n", o.Stdout)
		assert.Equal(t, "err\n", o.Stderr)
		assert.Equal(t, run()[3], o.Backend)
		assert.Positive(t, o.DurationMS)
		assert.NotEmpty(t, o.Guarantees)
		assert.NotNil(t, o.Notes)
		assert.Empty(t, o.Notes)
		assert.NotNil(t, o.Denials)
		assert.False(t, o.StdoutTruncated || o.StderrTruncated)
		assert.Nil(t, o.StdoutBase64)
	})
}

func TestOutputIsKeptToTheLimit(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		for _, row := range []struct {
			name, limit, script string
			kept                int
			dropped             int
		}{
			{"50,000 characters by default", "", `i=0; while [ $i -lt 600 ]; do printf '%0100d' 0; i=$((i+1)); done`, 50_000, 10_000},
			{"cut between characters", "output=3", "printf 'aé€𝄞z'", 3, 5},
			{"a character of four bytes", "output=4", "printf 'aé€𝄞z'", 4, 1},
			{"exactly the limit", "output=5", "printf 'aé€𝄞z'", 5, 0},
			{"an absurd limit", "output=9223372036854775807", "printf 'aé€𝄞z'", 5, 0},
		} {
			t.Run(row.name, func(t *testing.T) {
				args := run("--json", "-c", row.script+"; echo some >&2")
				if row.limit != "" {
					args = run("--json", "--limit", row.limit, "-c", row.script)
				}
				o, _ := w.result(w.command(args...))
				content, marker, cut := strings.Cut(o.Stdout, "\n[sbx: ")
				assert.Equal(t, row.kept, utf8.RuneCountInString(content))
				assert.Equal(t, row.dropped > 0, cut)
				assert.Equal(t, row.dropped > 0, o.StdoutTruncated)
				assert.False(t, o.StderrTruncated)
				if cut {
					assert.Equal(t, fmt.Sprintf("%d more bytes dropped]\n", row.dropped), marker)
				}
			})
		}
	})
}

// TestOutputIsLossless keeps bytes that a JSON string cannot hold.
func TestOutputIsLossless(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		for _, row := range []struct{ name, content string }{
			{"text", "plain ü\n"},
			{"control characters", "\x00\x01\x1b[31m\x7f"},
			{"Latin-1", "caf\xe9"},
			{"half a character", "a\xe2\x82"},
			{"a surrogate", "\xed\xa0\x80"},
			{"any byte", string(everyByte())},
		} {
			t.Run(row.name, func(t *testing.T) {
				cmd := w.command(run("--json", "-c", "tee /dev/stderr")...)
				cmd.Stdin = strings.NewReader(row.content)
				o, _ := w.result(cmd)
				for _, stream := range []struct {
					text string
					raw  []byte
				}{{o.Stdout, o.StdoutBase64}, {o.Stderr, o.StderrBase64}} {
					if utf8.ValidString(row.content) {
						assert.Equal(t, row.content, stream.text)
						assert.Nil(t, stream.raw)
						continue
					}
					assert.Equal(t, row.content, string(stream.raw))
					assert.Contains(t, stream.text, "\uFFFD")
				}
			})
		}
	})
}

func everyByte() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}

func TestLargeInputAndOutput(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		input := bytes.Repeat(everyByte(), 5<<20/256)
		cmd := w.command(run("--json", "--limit", "output=8000000", "--", "base64", "-w0")...)
		cmd.Stdin = bytes.NewReader(input)
		o, _ := w.result(cmd)
		assert.Equal(t, base64.StdEncoding.EncodeToString(input), o.Stdout)

		cmd = w.command(run("--json", "--rw", ".", "-c", "head -c 1G /dev/zero; touch read; cat")...)
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		eventually(t, "all is read", func() bool { _, err := os.Stat(w.cwd + "/read"); return err == nil })
		assert.Less(t, peakMemory(t, cmd.Process.Pid), 24<<20)
		stdin.Close()
		require.NoError(t, cmd.Wait())
		assert.Contains(t, stdout.String(), fmt.Sprintf("[sbx: %d more bytes dropped]", 1<<30-50_000))
	})
}

// peakMemory is how much a process has held at most, in bytes.
func peakMemory(t testing.TB, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int
	_, err = fmt.Sscan(rest, &kilobytes)
	require.NoError(t, err)
	return kilobytes << 10
}

func TestStreamsAtTheirEdges(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		w.write("ws/file", "content")
		sink, err := os.OpenFile(w.dir+"/sink", os.O_WRONLY|os.O_CREATE, 0o644)
		require.NoError(t, err)
		defer sink.Close()
		dir, err := os.Open(w.cwd)
		require.NoError(t, err)
		defer dir.Close()
		for _, row := range []struct {
			name         string
			stdin        *os.File
			stdout, errs string
			code         int
		}{
			{"no stdin", nil, "", "", 0},
			{"stdin that cannot be read", sink, "", "Bad file descriptor", 1},
			{"stdin is a directory", dir, "", "Is a directory", 1},
		} {
			t.Run(row.name, func(t *testing.T) {
				cmd := w.command(run("--json", "--", "cat")...)
				if row.stdin != nil {
					cmd.Stdin = row.stdin
				}
				o, _ := w.result(cmd)
				assert.Equal(t, row.code, o.ExitCode)
				assert.Equal(t, row.stdout, o.Stdout)
				assert.Contains(t, o.Stderr, row.errs)
			})
		}
		sbx := binary + " " + strings.Join(run(), " ")
		for _, row := range []struct{ name, script, want string }{
			{"stdin closed", sbx + " --json -c 'cat; echo end' <&-", `"stdout": "end\n"`},
			{"stdout closed", sbx + " --json --rw . -c 'touch made-1' >&-; ls", "made-1"},
			{"nobody reads the result", sbx + " --json --rw . -c 'touch made-2' | true; ls", "made-2"},
			{"nobody reads the command", sbx + " -- yes | head -n1", "y\n"},
			{"the command does not read", "yes | " + sbx + " --json -c 'echo end'", `"stdout": "end\n"`},
			{"stdin is streamed", "(echo one; sleep 60) | " + sbx + " --json -- head -n1", `"stdout": "one\n"`},
		} {
			t.Run(row.name, func(t *testing.T) {
				// The last one leaves a sleep in its pipeline, which nothing waits for.
				cmd := exec.Command("bash", "-c", row.script)
				w.place(cmd)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				cmd.WaitDelay = 20 * time.Second
				out := firstLines(t, cmd, row.want)
				assert.Contains(t, out, row.want)
			})
		}
	})
}

// firstLines reads what a command prints until it holds want or ends, and then
// ends its group.
func firstLines(t *testing.T, cmd *exec.Cmd, want string) string {
	t.Helper()
	r, pw, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	cmd.Stdout = pw
	require.NoError(t, cmd.Start())
	pw.Close()
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}()
	require.NoError(t, r.SetReadDeadline(time.Now().Add(20*time.Second)))
	var out bytes.Buffer
	chunk := make([]byte, 4096)
	for !strings.Contains(out.String(), want) {
		n, err := r.Read(chunk)
		out.Write(chunk[:n])
		if err != nil {
			break
		}
	}
	return out.String()
}

// TestBackgroundChildrenHoldStdout leaves processes behind that would keep the
// stream open for a minute.
func TestBackgroundChildrenHoldStdout(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		marker := fmt.Sprintf("%d.3", 400000+os.Getpid())
		begun := time.Now()
		o, _ := w.result(w.command(run("--json", "-c", "sleep "+marker+" & (setsid sleep "+marker+" &); echo done")...))
		assert.Equal(t, "done\n", o.Stdout)
		assert.Less(t, time.Since(begun), 30*time.Second)
		assert.Zero(t, countSleeps(marker))
	})
}

// TestConcurrentRuns starts 200 JSON runs, 16 at a time. A pipe that each
// sbx inherits shows what outlives them: it ends when the
// last process that has it is gone. This process, their parent, keeps neither
// children nor descriptors.
func TestConcurrentRuns(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		marker := fmt.Sprintf("%d.9", 300000+os.Getpid())
		alive, held, err := os.Pipe()
		require.NoError(t, err)
		defer alive.Close()
		before := livingChildren()
		files := openFiles(t)
		turns, wrong := make(chan int), make(chan string, 200)
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				for i := range turns {
					cmd := w.command(run("--json", "-c", fmt.Sprintf("sleep %s & cat; exit %d", marker, i%100))...)
					cmd.Stdin = strings.NewReader(fmt.Sprintf("input %d", i))
					cmd.ExtraFiles = []*os.File{held}
					out, _ := cmd.Output()
					var o runOutcome
					if err := json.Unmarshal(out, &o); err != nil || o.ExitCode != i%100 || o.Stdout != fmt.Sprintf("input %d", i) || o.Stderr != "" {
						wrong <- fmt.Sprintf("%d: %v: %s", i, err, out)
					}
				}
			})
		}
		for i := range 200 {
			turns <- i
		}
		close(turns)
		all.Wait()
		close(wrong)
		for w := range wrong {
			assert.Fail(t, w)
		}
		assert.Zero(t, countSleeps(marker))
		assertEmpty(t, w.dir+"/tmp")
		assertEmpty(t, w.cwd)
		assert.LessOrEqual(t, openFiles(t), files) // what earlier tests left may go meanwhile
		assert.Equal(t, before, livingChildren())
		assert.Empty(t, ownGroups())
		require.NoError(t, held.Close())
		require.NoError(t, alive.SetReadDeadline(time.Now().Add(20*time.Second)))
		_, err = alive.Read(make([]byte, 1))
		assert.ErrorIs(t, err, io.EOF, "somebody still holds the pipe")
	})
}

// openFiles counts the descriptors of this process.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}
