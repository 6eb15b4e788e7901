package platform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt"
)

// trialTimeout bounds one trial. It takes some ten milliseconds; a nested
// sandbox-exec has been reported to hang.
const trialTimeout = 5 * time.Second

// TrySeatbelt runs a program that does nothing under the profile. shown tells
// whether the profile shows that program. The error is a
// *policy.BackendUnavailableError that says why the profile does not hold here.
func TrySeatbelt(p seatbelt.Profile, shown bool) error {
	code, stderr, err := trial(p)
	if err != nil {
		return &policy.BackendUnavailableError{Backend: string(Seatbelt), Reason: err.Error()}
	}
	return verdictOn(code, stderr, shown)
}

func trial(p seatbelt.Profile) (code int, stderr string, err error) {
	dir, err := os.MkdirTemp("", "sbx-trial-")
	if err != nil {
		return 0, "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "profile.sb")
	if err := os.WriteFile(file, []byte(p.Text), 0o600); err != nil {
		return 0, "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), trialTimeout)
	defer cancel()
	argv := p.Argv(file, trialProgram)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = 100 * time.Millisecond
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, "", fmt.Errorf("%s did not answer within %s", seatbelt.Executable, trialTimeout)
	case errors.As(err, &exit):
		return exitCode(exit.Sys().(syscall.WaitStatus)), said.String(), nil
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	}
	return 0, said.String(), err
}

// exitCode counts a signal the way shells do.
func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// developerDir finds the developer directory that xcode-select(1) has chosen.
// DEVELOPER_DIR of the caller does not count: the command does not get it.
func developerDir() string {
	for _, link := range []string{"/private/var/db/xcode_select_link", "/private/var/select/developer_dir"} {
		if r, err := policy.Resolve(link); err == nil && r.Type == policy.TypeDir && r.Path != link {
			return developerContents(storedSpelling(r.Path))
		}
	}
	return ""
}
