package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/platform/landlock"
)

// eachBackend runs a test under both.
func eachBackend(t *testing.T, test func(t *testing.T, w *world, run func(args ...string) []string)) {
	for _, backend := range []string{"bwrap", "builtin"} {
		t.Run(backend, func(t *testing.T) {
			test(t, newWorld(t), func(args ...string) []string {
				return append([]string{"run", "--quiet", "--backend", backend}, args...)
			})
		})
	}
}

// onTerminal starts sbx itself on a new terminal.
func (w *world) onTerminal(args []string) *pty {
	w.t.Helper()
	return newPTY(w.t, w.command(args...))
}

// shellOnTerminal starts an interactive shell outside of any sandbox, with
// sbx at hand as $sbx.
func (w *world) shellOnTerminal() *pty {
	w.t.Helper()
	cmd := exec.Command("bash", "--norc", "--noprofile", "-i")
	w.place(cmd)
	cmd.Env = append(cmd.Env, "sbx="+binary, "PS1=out> ", "TERM=dumb")
	p := newPTY(w.t, cmd)
	p.sees("out> ")
	return p
}

func TestTerminalJobControl(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		p := w.onTerminal(run("--env", "PS1=in> ", "--env", "TERM=dumb", "--", "bash", "--norc", "--noprofile", "-i"))
		p.sees("in> ")
		assert.NotContains(t, p.screen(), "no job control")
		marker := fmt.Sprintf("%d.6", 800000+os.Getpid())
		p.types("sleep " + marker + "\n")
		eventually(t, "sleep runs", func() bool { return countSleeps(marker) == 1 })
		p.types(ctrlZ)
		p.sees("Stopped")
		p.types("jobs; echo listed\n")
		p.sees("Stopped")
		p.sees("listed")
		p.types("bg; fg\n")
		p.sees("sleep " + marker + "\r\n")
		time.Sleep(50 * time.Millisecond) // fg prints before it waits
		p.types(ctrlC)
		p.sees("in> ")
		p.types("tty >/dev/null && : </dev/tty && echo has a terminal\n")
		p.sees("has a terminal")
		p.sees("has a terminal")
		p.types("exit 7\n")
		assert.Equal(t, 7, p.ends())
	})
}

func TestTerminalKeysReachTheCommandAlone(t *testing.T) {
	for _, key := range []struct{ name, keys, signal string }{
		{"Ctrl-C", ctrlC, "INT"},
		{"Ctrl-Backslash", ctrlBackslash, "QUIT"},
	} {
		t.Run(key.name, func(t *testing.T) {
			eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
				p := w.onTerminal(run("-c", `n=0; trap 'n=$((n+1)); sleep 0.2; echo cleaned $n; exit 9' `+key.signal+`; echo ready; while :; do sleep 0.05; done`))
				p.sees("ready")
				p.types(key.keys)
				p.sees("cleaned 1") // once, and to its end
				assert.Equal(t, 9, p.ends())
			})
		})
	}
}

// TestTerminalKeyEndsTheCommand is the ordinary case: no handler.
func TestTerminalKeyEndsTheCommand(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		p := w.onTerminal(run("-c", "echo ready; exec sleep 1000"))
		p.sees("ready")
		p.types(ctrlC)
		assert.Equal(t, 130, p.ends())
	})
}

func TestTerminalSignalsToSbx(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
				p := w.onTerminal(run("-c", `trap 'echo cleaned; exit 7' TERM INT HUP; echo ready; while :; do sleep 0.05; done`))
				p.sees("ready")
				require.NoError(t, p.cmd.Process.Signal(sig))
				p.sees("cleaned")
				assert.Equal(t, 7, p.ends())
			})
		})
	}
}

// TestTerminalStopAndContinue stops a run from the shell that started it: as
// a job of its own, and in a pipeline with which it shares the terminal.
func TestTerminalStopAndContinue(t *testing.T) {
	for _, row := range []struct{ name, begin, end, status string }{
		{"alone", "", "", "status 5"},
		{"in a pipeline", "", " | cat", "status 0"},
		{"in a script", "sh -c '", "; exit $?'", "status 5"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, backend := range []string{"bwrap", "builtin"} {
				t.Run(backend, func(t *testing.T) {
					w := newWorld(t)
					p := w.shellOnTerminal()
					p.types(row.begin + `$sbx run --quiet --backend ` + backend + ` -- sh -c "echo rea\dy; cat; exit 5"` + row.end + "\n")
					p.sees("ready")
					p.types("first\n")
					p.sees("first\r\nfirst\r\n") // cat runs: a shell that stops while it forks does not notice
					p.types(ctrlZ)
					p.sees("Stopped")
					p.sees("out> ")
					p.types("jobs -r; echo none runs\n")
					p.sees("none runs\r\nout> ")
					p.types("fg\n")
					p.sees("cat")
					time.Sleep(50 * time.Millisecond) // fg prints before it continues the job
					p.types("typed\n")
					p.sees("typed\r\ntyped\r\n")
					p.types(ctrlD)
					p.sees("out> ")
					p.types("echo status $?\n")
					p.sees(row.status)
					p.types("exit\n")
					p.ends()
				})
			}
		})
	}
}

// TestTerminalBackground starts a run in the background and takes it to the
// foreground when it waits for input.
func TestTerminalBackground(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		p := w.shellOnTerminal()
		p.types(`$sbx ` + run()[0] + ` --quiet --backend ` + run()[3] + ` -- sh -c "echo rea\dy; read x; echo got \$x" &` + "\n")
		p.sees("ready")
		eventually(t, "it stops to wait for the terminal", func() bool {
			p.types("jobs\n")
			time.Sleep(50 * time.Millisecond)
			return strings.Contains(p.screen(), "Stopped")
		})
		p.types("fg\n")
		p.sees("read x")
		time.Sleep(50 * time.Millisecond)
		p.types("words\n")
		p.sees("got words")
		p.types("exit\n")
		p.ends()
	})
}

func TestTerminalResize(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		p := w.onTerminal(run("-c", `stty size; trap 'stty size; exit 3' WINCH; echo ready; while :; do sleep 0.05; done`))
		p.sees("24 80")
		p.sees("ready")
		p.resize(40, 132)
		p.sees("40 132")
		assert.Equal(t, 3, p.ends())
	})
}

// TestTerminalRawMode reads keys as an editor does. One that is killed cannot
// put the terminal back in order; sbx does.
func TestTerminalRawMode(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		p := w.onTerminal(run("-c", `old=$(stty -g); stty raw -echo; echo ready; c=$(dd bs=1 count=1 2>/dev/null | od -An -tx1); stty $old; echo "key$c"; exit 4`))
		p.sees("ready")
		p.types(ctrlC)
		p.sees("key 03")
		assert.Equal(t, 4, p.ends())
	})
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		p := w.shellOnTerminal()
		p.types(`$sbx run --quiet --backend ` + run()[3] + ` --timeout 300ms -- sh -c 'stty raw -echo; echo raw; exec sleep 60'; stty -a | grep -o -e '-icanon' -e 'icanon'` + "\n")
		p.sees("ended after 300ms")
		p.sees("icanon")
		p.types("exit\n")
		p.ends()
		assert.NotContains(t, p.screen(), "\n-icanon")
	})
}

// TestTerminalIsGivenBack runs an interactive shell, which makes a group of
// its own the foreground one and leaves it there, and then reads on.
func TestTerminalIsGivenBack(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		cmd := exec.Command("sh", "-c", binary+` run --quiet --backend `+run()[3]+` --env PS1='in> ' -- bash --norc --noprofile -i; echo back; read x; echo got $x`)
		w.place(cmd)
		p := newPTY(t, cmd)
		p.sees("in> ")
		p.types("exit\n")
		p.sees("back")
		p.types("words\n")
		p.sees("got words")
		assert.Zero(t, p.ends())
	})
}

// TestTerminalServerEndsWithTheRun leaves a background server behind.
func TestTerminalServerEndsWithTheRun(t *testing.T) {
	eachBackend(t, func(t *testing.T, w *world, run func(...string) []string) {
		marker := fmt.Sprintf("%d.7", 500000+os.Getpid())
		p := w.onTerminal(run("--env", "PS1=in> ", "--", "bash", "--norc", "--noprofile", "-i"))
		p.sees("in> ")
		p.types("sleep " + marker + " & (setsid sleep " + marker + " &)\n")
		eventually(t, "both servers run", func() bool { return countSleeps(marker) == 2 })
		p.types("exit\n")
		assert.Zero(t, p.ends())
		assert.Zero(t, countSleeps(marker))
	})
}

// TestTerminalGroupIsOutOfReach lets the command signal its whole group, which
// in a script is also that of sbx and of the script.
func TestTerminalGroupIsOutOfReach(t *testing.T) {
	for _, row := range []struct{ name, begin, end string }{
		{"alone", "", "; echo survived $?"},
		{"in a script", "sh -c '", "; echo survived $?'"},
		{"in a pipeline", "sh -c '(", "; echo survived $?) | cat'"},
	} {
		if abi, _ := landlock.ABI(); abi < 6 && row.begin != "" {
			continue // nothing before Linux 6.12 keeps signals inside a shared group
		}
		t.Run(row.name, func(t *testing.T) {
			for _, backend := range []string{"bwrap", "builtin"} {
				w := newWorld(t)
				p := w.shellOnTerminal()
				p.types(row.begin + `$sbx run --quiet --backend ` + backend + ` -- sh -c "kill -TERM 0; sleep 60"` + row.end + "\n")
				p.sees("survived 143")
				p.types("exit\n")
				p.ends()
			}
		})
	}
}

// TestTerminalIsNotFed is the old way out of a sandbox: typing for the shell
// outside (CVE-2017-5226).
func TestTerminalIsNotFed(t *testing.T) {
	w := newWorld(t)
	w.write("ws/feed.py", "import fcntl, termios\nfor c in 'echo injected\\n':\n    fcntl.ioctl(0, termios.TIOCSTI, c)\n")
	for _, backend := range []string{"bwrap", "builtin"} {
		t.Run(backend, func(t *testing.T) {
			p := w.onTerminal([]string{"run", "--quiet", "--backend", backend, "--ro", ".", "--", "/usr/bin/python3", "feed.py"})
			p.sees("PermissionError")
			assert.Equal(t, 1, p.ends())
		})
	}
}
