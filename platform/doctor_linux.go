package platform

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/policy"
)

// Doctor probes this machine anew, without any cache.
func Doctor(s Surroundings) Report {
	var r Report
	r.add(kernelFinding())
	r.addBwrap(s)
	r.add(landlockFinding())
	r.add(seccompFinding())
	r.add(cgroupFinding())
	r.addNamesakes(s)
	if plan, err := choose(policy.Effective{RequireOS: true}, Request{Path: s.Path}); err == nil {
		r.Backend, r.Guarantees = plan.Backend, plan.Guarantees()
	}
	return r
}

func kernelFinding() Finding {
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return Finding{Name: "kernel", State: Warning, Detail: err.Error()}
	}
	f := Finding{Name: "kernel", State: OK, Detail: unix.ByteSliceToString(uts.Release[:])}
	if strings.Contains(f.Detail, "Microsoft") && !strings.Contains(f.Detail, "WSL2") {
		f.Remedy = "WSL 1 has neither namespaces nor Landlock: convert the distribution to WSL 2"
	}
	return f
}

func (r *Report) addBwrap(s Surroundings) {
	program, refused := findBwrap(s.Path, s.Cwd)
	if program == "" {
		d := missing(refused)
		r.add(Finding{Name: "bubblewrap", State: Missing, Detail: d.Reason, Remedy: d.Remedy})
		return
	}
	p := probeBwrap(program)
	if !p.Works {
		d := diagnose(p)
		r.add(Finding{Name: "bubblewrap", State: Missing, Detail: program + ": " + d.Reason, Remedy: d.Remedy})
		return
	}
	r.add(Finding{Name: "bubblewrap", State: OK, Detail: program + " " + p.Version + ", trial run passed"})
	for name, has := range map[string]bool{"--bind-fd": p.Features.BindFD, "--disable-userns": p.Features.DisableUserns, "--size": p.Features.Size} {
		if !has {
			r.add(Finding{Name: "bubblewrap " + name, State: Warning, Detail: "not in this version; sbx covers it by other means", Remedy: "bubblewrap 0.10 or later"})
		}
	}
}

// landlockFinding asks the kernel for the ABI version, landlock(7).
func landlockFinding() Finding {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return Finding{Name: "landlock", State: Missing, Detail: errno.Error(), Remedy: "Linux 5.13 or later with landlock in the lsm= list"}
	}
	return Finding{Name: "landlock", State: OK, Detail: fmt.Sprintf("ABI %d", abi)}
}

func seccompFinding() Finding {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	if err := seccompActionAvailable(action); err != nil {
		return Finding{Name: "seccomp", State: Missing, Detail: err.Error(), Remedy: "a kernel with CONFIG_SECCOMP_FILTER"}
	}
	return Finding{Name: "seccomp", State: OK, Detail: "filters available"}
}

// cgroupFinding looks for a cgroup v2 of ours in which memory and processes
// can be limited for a whole tree.
func cgroupFinding() Finding {
	own, _ := os.ReadFile("/proc/self/cgroup") // without it there is no group
	for line := range strings.SplitSeq(string(own), "\n") {
		rel, ok := strings.CutPrefix(line, "0::")
		if !ok {
			continue
		}
		dir := filepath.Join("/sys/fs/cgroup", rel)
		controllers := strings.Fields(setting(filepath.Join(dir, "cgroup.controllers")))
		if len(controllers) > 0 && unix.Access(dir, unix.W_OK) == nil {
			return Finding{Name: "cgroup v2", State: OK, Detail: dir + " delegated: " + strings.Join(controllers, " ")}
		}
	}
	if ServiceManager() {
		return Finding{Name: "cgroup v2", State: OK, Detail: "the user's service manager is asked for a group"}
	}
	return Finding{Name: "cgroup v2", State: Warning, Detail: "no delegated group: limits go by process, not by tree", Remedy: "run in a systemd user session"}
}
