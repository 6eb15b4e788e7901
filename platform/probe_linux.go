package platform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sbx-run/sbx/bwrap"
)

// probeTimeout bounds one probe. A probe takes a few milliseconds; one that
// hangs (an unreachable automount) is a failed one.
const probeTimeout = 5 * time.Second

// Probe is what one bubblewrap did when it was tried.
type Probe struct {
	Program  string         `json:"program"`
	Version  string         `json:"version"`
	Features bwrap.Features `json:"features"`
	Works    bool           `json:"works"`
	Error    string         `json:"error,omitempty"` // what bubblewrap said when it did not
}

// probeBwrap asks for the options by --help, then builds a full sandbox with
// all of them and runs a program in it.
func probeBwrap(program string) Probe {
	p := Probe{Program: program}
	help, err := runProbe(program, "--help")
	if err != nil {
		p.Error = err.Error()
		return p
	}
	p.Features = featuresOf(help)
	if version, err := runProbe(program, "--version"); err == nil {
		p.Version = strings.TrimSpace(strings.TrimPrefix(version, "bubblewrap"))
	}
	if _, err := runProbe(program, trial(p.Features)...); err != nil {
		p.Error = err.Error()
		return p
	}
	p.Works = true
	return p
}

// featuresOf reads the options out of a help text, or of what optionsOf wrote.
func featuresOf(help string) bwrap.Features {
	return bwrap.Features{
		BindFD:        hasOption(help, "--ro-bind-fd"),
		DisableUserns: hasOption(help, "--disable-userns"),
		Size:          hasOption(help, "--size"),
		Perms:         hasOption(help, "--perms"),
	}
}

func optionsOf(f bwrap.Features) string {
	var options []string
	for _, o := range []struct {
		name string
		has  bool
	}{{"--ro-bind-fd", f.BindFD}, {"--disable-userns", f.DisableUserns}, {"--size", f.Size}, {"--perms", f.Perms}} {
		if o.has {
			options = append(options, o.name)
		}
	}
	return strings.Join(options, " ")
}

// trial is a sandbox of the same make as a run's: same namespaces, a new
// /proc and /dev, no capabilities.
func trial(f bwrap.Features) []string {
	layout := bwrap.Layout{Mounts: []bwrap.Mount{
		{Op: bwrap.ROBind, Path: "/"},
		{Op: bwrap.Dev, Path: "/dev"},
		{Op: bwrap.Proc, Path: "/proc"},
		{Op: bwrap.Tmpfs, Path: "/tmp", Size: 4096},
	}}
	// A bubblewrap that is to die with us and does so before it has let its
	// child go leaves that child behind. This one ends by itself.
	options := slices.DeleteFunc(bwrap.Args(layout, bwrap.Options{Features: f}), func(option string) bool {
		return option == "--die-with-parent"
	})
	return append(options, "--", "/proc/self/exe", "--version")
}

func hasOption(help, option string) bool {
	for word := range strings.FieldsSeq(help) {
		if word == option {
			return true
		}
	}
	return false
}

// runProbe runs program with an empty environment and returns its stdout, or
// the first line of what it complained about.
func runProbe(program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{}
	cmd.Dir = "/"
	// A key on the terminal must not end bubblewrap early, which can leave its child.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("did not answer within %s", probeTimeout)
	case err != nil:
		return "", probeError(err, stderr.String())
	}
	return stdout.String(), nil
}

func probeError(err error, stderr string) error {
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	line = strings.TrimPrefix(line, "bwrap: ")
	if line == "" || errors.Is(err, os.ErrPermission) {
		return err
	}
	return errors.New(line)
}
