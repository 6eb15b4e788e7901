package seccomp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A filter stays for the life of a process. What runs under one therefore runs
// in a child: this test binary again, told by its environment what to do.

const childVariable = "SBX_SECCOMP_TEST_CHILD"

// order is what a child does.
type order struct {
	Filter  *Config  // nil: the control arm
	Probes  bool     // run the probes and report
	Command []string // else execute this
	Special string   // else one of the special children
	Socket  string   // a datagram socket that listens outside
}

// nobody is an unprivileged user without an account's rights anywhere.
const nobody = 65534

var childExecutable string

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(childVariable); ok {
		os.Exit(child(text))
	}
	dir, err := publicCopy()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// publicCopy puts the test binary where every user may execute it.
func publicCopy() (dir string, err error) {
	dir, err = os.MkdirTemp("", "sbx-seccomp-")
	if err != nil {
		return "", err
	}
	childExecutable = filepath.Join(dir, "child")
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return dir, err
	}
	defer from.Close()
	to, err := os.OpenFile(childExecutable, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return dir, err
	}
	_, err = io.Copy(to, from)
	return dir, errors.Join(err, to.Close(), os.Chmod(dir, 0o755), os.Chmod(childExecutable, 0o755))
}

func child(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return complain(err)
	}
	if err := os.Unsetenv(childVariable); err != nil {
		return complain(err)
	}
	runtime.LockOSThread()
	if o.Special != "" {
		return complain(specialChildren[o.Special]())
	}
	if o.Filter != nil {
		p, err := Compile(*o.Filter)
		if err != nil {
			return complain(err)
		}
		if err := Install(p); err != nil {
			return complain(err)
		}
	}
	if o.Probes {
		return complain(json.NewEncoder(os.Stdout).Encode(runProbes(o)))
	}
	return complain(syscall.Exec(o.Command[0], o.Command, os.Environ()))
}

func complain(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	return 125
}

// identities are the users to test as: root and an unprivileged one, or whoever
// runs the tests if that is not root.
func identities() map[string]*syscall.Credential {
	if os.Geteuid() != 0 {
		return map[string]*syscall.Credential{"self": nil}
	}
	return map[string]*syscall.Credential{
		"root":   nil,
		"nobody": {Uid: nobody, Gid: nobody},
	}
}

// scratch is an empty directory that every identity may use.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sbx-seccomp-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	return dir
}

// start prepares a child that carries out o as user, in dir, without a terminal.
func start(t *testing.T, o order, user *syscall.Credential, dir string) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	cmd := exec.Command(childExecutable)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), childVariable+"="+string(text), "HOME="+dir, "TMPDIR="+dir,
		"GORACE=atexit_sleep_ms=0") // else each child ends with a second's pause under -race
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: user}
	return cmd
}

// output runs the child and returns what it printed.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s%s", out, stderr.String())
	return string(out)
}

func host(t *testing.T) Arch {
	t.Helper()
	arch, err := Host()
	require.NoError(t, err)
	return arch
}
