package main_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// binary is the built sbx that all tests of this package run.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		binary = os.Getenv("SBX_BINARY")
		if binary == "" {
			dir, err := os.MkdirTemp("", "sbx-test")
			if err != nil {
				panic(err)
			}
			defer os.RemoveAll(dir)
			binary = filepath.Join(dir, "sbx")
			build := exec.Command("go", "build", "-o", binary, ".")
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				panic(fmt.Sprintf("go build: %v\n%s", err, out))
			}
		}
		return m.Run()
	}())
}

// TestScripts runs testdata/scripts: the built binary, end to end.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "../../testdata/scripts",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("PATH", filepath.Dir(binary)+":"+os.Getenv("PATH"))
			env.Setenv("BIN", binary)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
			return os.MkdirAll(home, 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"empty": empty,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// exits runs a command and demands its exact status: exits 125 sbx run ...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s exits %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// empty demands that a directory holds exactly the given names: nothing was
// left behind. empty DIR [NAME...]
func empty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: empty DIR [NAME...]")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	allowed := map[string]bool{}
	for _, name := range args[1:] {
		allowed[name] = true
	}
	for _, e := range entries {
		if !allowed[e.Name()] {
			ts.Fatalf("%s holds %s", args[0], e.Name())
		}
	}
}
