package launcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform"
)

// A scope is a control group that the user's own service manager makes and
// hands over, for a login whose group is root's (systemd.scope(5)). What lies
// below is ours to arrange. Moving a process in from the login's group is not:
// that takes the manager again, because what the two groups have in common is
// root's.
type scope struct {
	unit   string
	holder *exec.Cmd      // without a process the manager would remove the scope, and its counters
	in     io.WriteCloser // the holder ends with it, also when we are killed
}

// scopePatience is how long a manager may take; it answers in milliseconds.
const scopePatience = 3 * time.Second

// openScope asks for a scope below which groups can have the controllers; nil
// if there is none to be had.
func openScope(controllers []string) *scope {
	run, hold := systemTool("systemd-run"), systemTool("cat")
	own := unifiedGroup("/proc/self")
	offered := strings.Fields(string(contentOf(own + "/cgroup.controllers")))
	if run == "" || hold == "" || own == "" || !has(offered, controllers) || !platform.ServiceManager() {
		return nil
	}
	s := &scope{unit: fmt.Sprintf("%s%d-%d.scope", groupPrefix, os.Getpid(), groupNumber.Add(1))}
	s.holder = managerCommand(context.Background(), run, "--user", "--scope", "--quiet", "--collect",
		"--no-ask-password", "--property=Delegate=yes", "--unit="+s.unit, "--", hold)
	if s.hold() != nil || s.prepare(controllers) != nil {
		s.close()
		return nil
	}
	return s
}

// managerCommand prepares a program that talks to the manager: in a group of
// its own, so that a key at the terminal does not end it.
func managerCommand(ctx context.Context, program string, args ...string) *exec.Cmd {
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"XDG_RUNTIME_DIR=" + runtime, "DBUS_SESSION_BUS_ADDRESS=unix:path=" + runtime + "/bus"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// hold starts the holder, which systemd-run becomes once the scope is there,
// and returns when it has answered.
func (s *scope) hold() (err error) {
	if s.in, err = s.holder.StdinPipe(); err != nil {
		return err
	}
	out, err := s.holder.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.holder.Start(); err != nil {
		return err
	}
	late := time.AfterFunc(scopePatience, func() { _ = s.holder.Process.Kill() })
	defer late.Stop()
	if _, err := s.in.Write([]byte{'\n'}); err != nil {
		return err
	}
	_, err = io.ReadFull(out, make([]byte, 1))
	return err
}

// prepare moves the holder aside, because groups that have groups with limits
// below them have no processes of their own (cgroups(7)).
func (s *scope) prepare(controllers []string) error {
	dir := unifiedGroup(s.proc())
	if path.Base(dir) != s.unit {
		return errors.New("the scope is not ours")
	}
	aside := groupDir{path: dir + "/holder"}
	if err := os.Mkdir(aside.path, 0o755); err != nil {
		return err
	}
	if err := aside.write("cgroup.procs", int64(s.holder.Process.Pid)); err != nil {
		return err
	}
	return os.WriteFile(dir+"/cgroup.subtree_control", []byte("+"+strings.Join(controllers, " +")), 0)
}

// proc is where to read in which group the holder is.
func (s *scope) proc() string { return "/proc/" + itoa(s.holder.Process.Pid) }

// attach has the manager move a process to a group below the scope.
func (s *scope) attach(pid int, group string) error {
	call := systemTool("busctl")
	if call == "" {
		return errors.New("busctl is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), scopePatience)
	defer cancel()
	const manager = "org.freedesktop.systemd1"
	said, err := managerCommand(ctx, call, "--user", "--quiet", "call", manager, "/org/freedesktop/systemd1", manager+".Manager",
		"AttachProcessesToUnit", "ssau", s.unit, "/"+path.Base(group), "1", itoa(pid)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said)))
	}
	if unifiedGroup("/proc/"+itoa(pid)) != group {
		return errors.New("the manager left the process where it was")
	}
	return nil
}

// close lets go of the scope. The manager removes it once it is empty. The
// holder may be gone already, as a child of ours like any (see reapAll).
func (s *scope) close() {
	if s == nil || s.holder.Process == nil || s.holder.ProcessState != nil {
		return
	}
	s.in.Close()
	_ = s.holder.Process.Kill()
	_ = s.holder.Wait()
}

// systemTool finds a program of the system; whoever sets PATH has no say.
func systemTool(name string) string {
	for _, dir := range []string{"/usr/bin", "/bin", "/run/current-system/sw/bin"} {
		if p := dir + "/" + name; unix.Access(p, unix.X_OK) == nil {
			return p
		}
	}
	return ""
}
