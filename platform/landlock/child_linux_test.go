package landlock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A domain stays for the life of a process. What runs in one therefore runs in a
// child: this test binary again, told by its environment what to do.

const childVariable = "SBX_LANDLOCK_TEST_CHILD"

// order is what a child does.
type order struct {
	Ruleset *Ruleset // nil: the control arm
	Probes  string   // the list of probes to run and report
	Command []string // else execute this
	Special string   // else one of the special children
	World   world
}

// world is what lies around the child.
type world struct {
	Tree     string // the directory with the test files
	Target   int    // a process of the same user, outside
	Abstract string // an abstract socket that listens outside
	Pathname string // a socket file in the readable directory that listens outside
	TCP, UDP uint16 // ports of the loopback with somebody behind
}

// nobody is an unprivileged user without an account's rights anywhere.
const nobody = 65534

var childExecutable string

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(childVariable); ok {
		childExecutable = os.Args[0]
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
	dir, err = os.MkdirTemp("", "sbx-landlock-")
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
	if o.Special != "" {
		return complain(specialChildren[o.Special](o.World))
	}
	if o.Ruleset != nil {
		if err := enforce(*o.Ruleset); err != nil {
			return complain(err)
		}
	}
	if o.Probes != "" {
		return complain(json.NewEncoder(os.Stdout).Encode(runProbes(probeLists[o.Probes], o.World)))
	}
	return complain(syscall.Exec(o.Command[0], o.Command, os.Environ()))
}

func enforce(want Ruleset) error {
	abi, err := ABI()
	if err != nil {
		return err
	}
	e, _, err := Plan(abi, want)
	if err != nil {
		return err
	}
	return Apply(e)
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

func encode(o order) (string, error) {
	text, err := json.Marshal(o)
	return string(text), err
}

// start prepares a child that carries out o as user.
func start(t *testing.T, o order, user *syscall.Credential) *exec.Cmd {
	t.Helper()
	text, err := encode(o)
	require.NoError(t, err)
	cmd := exec.Command(childExecutable)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), childVariable+"="+text,
		"GORACE=atexit_sleep_ms=0") // else each child ends with a second's pause under -race
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user, Pdeathsig: syscall.SIGKILL}
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

// currentABI fails the test where there is no Landlock: nothing here could pass.
func currentABI(t *testing.T) int {
	t.Helper()
	abi, err := ABI()
	require.NoError(t, err)
	return abi
}
