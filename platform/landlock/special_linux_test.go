package landlock

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// specialChildren test what a list of probes cannot.
var specialChildren = map[string]func(world) error{
	"descriptor":  childDescriptor,
	"stack":       childStack,
	"thread":      childThread,
	"nothing":     childNothing,
	"bad grants":  childBadGrants,
	"late mount":  childLateMount,
	"late reader": childLateReader,
}

// childStack narrows until the kernel's limit: every layer holds, and the one too
// many is an error.
func childStack(w world) error {
	all := Ruleset{Files: true, Grants: []Grant{{Path: "/", Access: Read | Write}}}
	some := Ruleset{Files: true, Grants: []Grant{{Path: w.Tree + "/rw", Access: Read | Write}}}
	if err := enforce(some); err != nil {
		return err
	}
	for range 15 {
		if err := enforce(all); err != nil {
			return err
		}
		if err := open(unix.O_RDONLY)(w.Tree + "/out/file"); !errors.Is(err, unix.EACCES) {
			return fmt.Errorf("an inner layer widened: %w", err)
		}
	}
	if err := open(unix.O_RDONLY)(w.Tree + "/rw/file"); err != nil {
		return err
	}
	err := enforce(all)
	var typed Error
	if !errors.As(err, &typed) || !errors.Is(err, unix.E2BIG) {
		return fmt.Errorf("layer 17: %w", err)
	}
	return nil
}

// childThread shows that Apply ties the goroutine to its thread, and that other
// threads stay as they were.
func childThread(w world) error {
	restricted := make(chan error)
	resume := make(chan struct{})
	go func() {
		restricted <- enforce(Ruleset{Files: true})
		<-resume
		for range 100 {
			runtime.Gosched()
			if err := open(unix.O_RDONLY)(w.Tree + "/rw/file"); !errors.Is(err, unix.EACCES) {
				restricted <- fmt.Errorf("the goroutine left its thread: %w", err)
				return
			}
		}
		restricted <- nil
	}()
	if err := <-restricted; err != nil {
		return err
	}
	if err := open(unix.O_RDONLY)(w.Tree + "/rw/file"); err != nil {
		return fmt.Errorf("another thread was restricted: %w", err)
	}
	close(resume)
	return <-restricted
}

// childNothing: a plan that enforces nothing must not pass for a success.
func childNothing(w world) error {
	for name, e := range map[string]Enforced{"zero": {}, "no Landlock": must(Plan(0, *testRuleset(w)))} {
		var typed Error
		if err := Apply(e); !errors.As(err, &typed) {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func must(e Enforced, _ []Gap, err error) Enforced {
	if err != nil {
		panic(err)
	}
	return e
}

// childBadGrants: a grant that cannot be made is an error that names it, and the
// thread is then not restricted.
func childBadGrants(w world) error {
	abi, err := ABI()
	if err != nil {
		return err
	}
	link, err := unix.Open(w.Tree+"/rw/link", unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	pipe := make([]int, 2)
	if err := unix.Pipe(pipe); err != nil {
		return err
	}
	for _, row := range []struct {
		grant Grant
		want  unix.Errno
	}{
		{Grant{Path: w.Tree + "/absent", Access: Read}, unix.ENOENT},
		{Grant{Path: w.Tree + "/rw/link", Access: Read}, unix.ELOOP},
		{Grant{Path: w.Tree + "/rw/link/file", Access: Read}, unix.ELOOP},
		{Grant{Path: w.Tree + "/rw/file/below", Access: Read}, unix.ENOTDIR},
		{Grant{Path: "/proc/self/fd/0", Access: Read}, unix.ELOOP},
		{Grant{FD: link, Access: Read}, unix.ELOOP},
		{Grant{FD: pipe[0], Access: Read}, unix.EBADFD},
		{Grant{FD: 1 << 20, Access: Read}, unix.EBADF},
	} {
		e, _, err := Plan(abi, Ruleset{Files: true, Grants: []Grant{row.grant}})
		if err != nil {
			return err
		}
		err = Apply(e)
		var typed Error
		if !errors.As(err, &typed) || typed.Path != row.grant.String() || !errors.Is(err, row.want) {
			return fmt.Errorf("%v: %w, not %w", row.grant, err, row.want)
		}
	}
	return open(unix.O_RDONLY)(w.Tree + "/out/file")
}

// childLateMount starts a restricted process, mounts out over rw/sub, and lets
// that process read there. It runs in a mount namespace of its own.
func childLateMount(w world) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	reader := exec.Command(childExecutable)
	o := order{Special: "late reader", World: w}
	text, err := encode(o)
	if err != nil {
		return err
	}
	reader.Env = append(os.Environ(), childVariable+"="+text)
	reader.Stderr = os.Stderr
	var out bytes.Buffer
	stdout, err := reader.StdoutPipe()
	if err != nil {
		return err
	}
	stdin, err := reader.StdinPipe()
	if err != nil {
		return err
	}
	if err := reader.Start(); err != nil {
		return err
	}
	ready := make([]byte, 1)
	if _, err := io.ReadFull(stdout, ready); err != nil {
		return errors.Join(err, reader.Wait())
	}
	if err := unix.Mount(filepath.Join(w.Tree, "out"), filepath.Join(w.Tree, "rw", "sub"), "", unix.MS_BIND, ""); err != nil {
		return err
	}
	if err := stdin.Close(); err != nil {
		return err
	}
	if _, err := out.ReadFrom(stdout); err != nil {
		return err
	}
	if err := reader.Wait(); err != nil {
		return err
	}
	_, err = out.WriteTo(os.Stdout)
	return err
}

// childLateReader is the restricted process: it reads what was mounted meanwhile.
func childLateReader(w world) error {
	if err := enforce(*testRuleset(w)); err != nil {
		return err
	}
	if err := open(unix.O_RDONLY)(w.Tree + "/rw/sub/" + program); !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("mounted too early: %w", err)
	}
	if err := unix.Mount("none", w.Tree+"/rw/other", "tmpfs", 0, ""); !errors.Is(err, unix.EPERM) {
		return fmt.Errorf("mount inside a domain: %w", err)
	}
	if _, err := os.Stdout.WriteString("."); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := open(unix.O_RDONLY)(w.Tree + "/rw/sub/" + program); err != nil {
		return fmt.Errorf("below the grant: %w", err)
	}
	if err := open(unix.O_RDONLY)(w.Tree + "/out/file"); !errors.Is(err, unix.EACCES) {
		return fmt.Errorf("the same file outside: %w", err)
	}
	text, err := os.ReadFile(w.Tree + "/rw/sub/file")
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}
