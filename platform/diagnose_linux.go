package platform

import (
	"bufio"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/policy"
)

// Diagnosis is why bubblewrap cannot work on this machine and what would
// change that.
type Diagnosis struct {
	Reason string
	Remedy string
}

func (d Diagnosis) unavailable() *policy.BackendUnavailableError {
	return &policy.BackendUnavailableError{Backend: string(Bwrap), Reason: d.Reason, Remedy: d.Remedy}
}

// diagnose explains a failed probe. It goes by settings of this kernel and by
// what a plain clone(2) answers, not by the wording of one bubblewrap.
func diagnose(p Probe) Diagnosis {
	switch {
	case setting("/proc/sys/user/max_user_namespaces") == "0":
		return Diagnosis{"user namespaces are switched off: user.max_user_namespaces is 0",
			"sudo sysctl -w user.max_user_namespaces=15000"}
	case setting("/proc/sys/kernel/unprivileged_userns_clone") == "0" && os.Getuid() != 0:
		return Diagnosis{"unprivileged user namespaces are switched off: kernel.unprivileged_userns_clone is 0",
			"sudo sysctl -w kernel.unprivileged_userns_clone=1"}
	case setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" && os.Getuid() != 0:
		return Diagnosis{"AppArmor keeps unprivileged programs from using user namespaces (Ubuntu 23.10 and later)",
			"load the profile that Ubuntu ships for bubblewrap: sudo apparmor_parser -r /usr/share/apparmor/extra-profiles/bwrap-userns-restrict"}
	}
	if err := tryUserNamespace(); err != nil {
		return refusedNamespace(err)
	}
	return Diagnosis{"bubblewrap failed in a trial run: " + p.Error, containerRemedy()}
}

func refusedNamespace(err error) Diagnosis {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return Diagnosis{"the limit of nested user namespaces is reached: this is already inside a sandbox", "start it outside, or use --backend builtin"}
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS):
		return Diagnosis{"this kernel has no user namespaces", "use --backend builtin, or a kernel with CONFIG_USER_NS (WSL 1 has none; WSL 2 has)"}
	}
	return Diagnosis{"a new user namespace is refused (" + err.Error() + ")", containerRemedy()}
}

// containerRemedy names the switch of the container that is around us, if one
// is: their seccomp profiles refuse namespaces and their masks refuse /proc.
func containerRemedy() string {
	switch {
	case exists("/.dockerenv"):
		return "start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined"
	case exists("/run/.containerenv"):
		return "start the container with --security-opt seccomp=unconfined --security-opt unmask=ALL"
	case os.Getenv("KUBERNETES_SERVICE_HOST") != "":
		return "give the pod seccompProfile: Unconfined and procMount: Unmasked"
	}
	return "use --backend builtin"
}

// tryUserNamespace asks clone(2) for a new user namespace. The child then
// execs a directory, which must fail: EACCES says that the clone worked.
func tryUserNamespace() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_, err := os.StartProcess("/", []string{"/"}, &os.ProcAttr{
		Env: []string{},
		Sys: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, Pdeathsig: syscall.SIGKILL},
	})
	if errors.Is(err, syscall.EACCES) {
		return nil
	}
	return err
}

// setting reads one of the kernel's; "" where it has none.
func setting(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	return strings.TrimSpace(readSmall(fd))
}

func exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}

// missing is the diagnosis where no bubblewrap was found, with the command
// that installs one here.
func missing(reasons []string) Diagnosis {
	reason := "bubblewrap is not installed"
	if len(reasons) > 0 {
		reason = "no usable bubblewrap: " + strings.Join(reasons, "; ")
	}
	return Diagnosis{reason, installCommand(osRelease("/etc/os-release"))}
}

var installers = [...]struct{ name, command string }{
	{"debian", "sudo apt-get install bubblewrap"},
	{"ubuntu", "sudo apt-get install bubblewrap"},
	{"fedora", "sudo dnf install bubblewrap"},
	{"rhel", "sudo dnf install bubblewrap"},
	{"arch", "sudo pacman -S bubblewrap"},
	{"alpine", "apk add bubblewrap"},
	{"suse", "sudo zypper install bubblewrap"},
	{"nixos", "nix-env -iA nixos.bubblewrap"},
}

// installCommand goes by the distribution's own name, then by those that it
// says it is like.
func installCommand(ids []string) string {
	for _, id := range ids {
		for _, i := range installers {
			if id == i.name || i.name == "suse" && strings.Contains(id, "suse") {
				return i.command
			}
		}
	}
	return "install the package bubblewrap, or use --backend builtin"
}

// osRelease returns ID and ID_LIKE of os-release(5).
func osRelease(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var ids []string
	for s := bufio.NewScanner(f); s.Scan(); {
		key, value, _ := strings.Cut(s.Text(), "=")
		if key == "ID" || key == "ID_LIKE" {
			ids = append(ids, strings.Fields(strings.Trim(value, `"'`))...)
		}
	}
	return ids
}
