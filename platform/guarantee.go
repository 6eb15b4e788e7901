package platform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/platform/landlock"
	"github.com/sbx-run/sbx/policy"
)

// Guarantee is one promise, and whether a plan keeps it.
type Guarantee struct {
	Name   string `json:"name"`
	Held   bool   `json:"held"`
	Detail string `json:"detail"` // what is promised; where not held, what a command can do and what would change it
}

// The guarantees, by the names that --require and reports use.
const (
	GuaranteeFiles      = "filesystem"
	GuaranteeNames      = "hidden-names"
	GuaranteeMetadata   = "metadata"
	GuaranteeDenies     = "deny-inside-grant"
	GuaranteeLater      = "later-matches"
	GuaranteeProtected  = "protected-files"
	GuaranteePrivate    = "private-tmp"
	GuaranteeNetwork    = "network"
	GuaranteeSockets    = "unix-sockets"
	GuaranteeProcesses  = "process-list"
	GuaranteeIPC        = "sysv-ipc"
	GuaranteeKill       = "kill-on-exit"
	GuaranteeSyscalls   = "syscalls"
	GuaranteePrivileges = "no-privileges"
	GuaranteeLateMounts = "late-mounts"
)

// promises says what each guarantee means, in the order of reports.
var promises = []struct{ name, what string }{
	{GuaranteeFiles, "only what is granted can be read or written"},
	{GuaranteeNames, "what is not granted cannot be seen, not even its name"},
	{GuaranteeMetadata, "modes, owners, times and attributes outside stay as they are"},
	{GuaranteeDenies, "what is denied inside a grant is closed"},
	{GuaranteeLater, "deny patterns cover files made during the run"},
	{GuaranteeProtected, "existing files that other tools execute by themselves stay as they are"},
	{GuaranteePrivate, "/tmp and the home are the command's own, and bounded"},
	{GuaranteeNetwork, "the network is as far open as the policy says"},
	{GuaranteeSockets, "no unix socket of the host can be reached"},
	{GuaranteeProcesses, "no process of the host is visible or reachable"},
	{GuaranteeIPC, "shared memory and queues of the host are out of reach"},
	{GuaranteeKill, "nothing survives the run, whoever is killed"},
	{GuaranteeSyscalls, "the system call filter is in force"},
	{GuaranteePrivileges, "no capabilities, no setuid, no new namespaces"},
	{GuaranteeLateMounts, "what the host mounts later is not writable"},
}

// Guarantees states what the plan keeps. It is worked out when asked for: most
// runs start without saying it.
func (plan Plan) Guarantees() []Guarantee {
	lost := losses(plan, plan.gaps)
	if plan.Effective.Sockets.Any() && hasGap(plan.gaps, landlock.GapUnixConnect) {
		lost[GuaranteeSockets] = "a socket of the host that lies in a granted directory can be reached; Landlock ABI 9 (Linux 7.1) closes this"
	}
	if patterns := lateMatches(plan); len(patterns) > 0 {
		written := make([]string, len(patterns))
		for i, d := range patterns {
			written[i] = d.Written
		}
		lost[GuaranteeLater] = "files made during the run that match " + strings.Join(written, ", ") + " can be used until the next run"
	}
	if detail := deniedDetail(plan); detail != "" && plan.Backend != None {
		lost[GuaranteeDenies] = detail
	}
	list := make([]Guarantee, len(promises))
	for i, p := range promises {
		list[i] = Guarantee{Name: p.name, Held: true, Detail: p.what}
		if detail, isLost := lost[p.name]; isLost {
			list[i].Held, list[i].Detail = false, detail
		}
	}
	return list
}

// losses says which promises a backend does not keep, and why.
func losses(plan Plan, gaps []landlock.Gap) map[string]string {
	lost := map[string]string{}
	switch plan.Backend {
	case Bwrap:
		if detail := exposureDetail(plan); detail != "" {
			lost[GuaranteeProtected] = detail
		}
		if !plan.Landlock.Files || hasGap(gaps, landlock.GapFiles) {
			lost[GuaranteeLateMounts] = "a file system that the host mounts below a read-only grant during the run is writable; Landlock (Linux 5.13) closes this"
		}
		if p, inside := readOnlyInWritable(plan.Layout); inside {
			lost[GuaranteeLateMounts] = "a file system that the host mounts below " + p + " during the run is writable, because a writable place surrounds it"
		}
		if !plan.Features.Size {
			lost[GuaranteePrivate] = "/tmp and the home may fill half of the memory each; bubblewrap 0.7 bounds them"
		}
	case Builtin:
		builtinLosses(lost, gaps)
		if files := plan.Effective.PolicyFiles(); len(files) > 0 && !plan.Effective.RequireOS {
			lost[GuaranteeProtected] = "policy files are writable: " + named(files) + "; " + lost[GuaranteeProtected]
		}
	case Seatbelt:
		seatbeltLosses(lost, plan)
	case None:
		for _, p := range promises {
			lost[p.name] = "the command runs unconfined"
		}
	}
	return lost
}

// builtinLosses is the price of doing without namespaces.
func builtinLosses(lost map[string]string, gaps []landlock.Gap) {
	const needs = "; bubblewrap closes this"
	lost[GuaranteeNames] = "names and attributes of all files can be seen, their contents not" + needs
	lost[GuaranteeMetadata] = "modes, times and extended attributes of the caller's files can be changed" + needs
	lost[GuaranteeProtected] = "files that other tools execute are writable where their directory is" + needs
	lost[GuaranteePrivate] = "HOME and TMPDIR point to a directory of the run, without a size limit; /tmp itself is closed" + needs
	lost[GuaranteeProcesses] = "processes of the host can be listed and scheduled otherwise, but neither signalled nor traced" + needs
	lost[GuaranteeKill] = "if sbx itself is killed with SIGKILL, background processes of the command survive" + needs
	for _, g := range gaps {
		switch g.Name {
		case landlock.GapTruncate, landlock.GapFiles:
			lost[GuaranteeFiles] = fmt.Sprintf("%s; Landlock ABI %d closes this", g.Effect, g.Needs)
		case landlock.GapScopeSignal:
			lost[GuaranteeProcesses] = "processes of the host can be listed and signalled; Linux 6.12 closes the second"
		case landlock.GapScopeAbstract, landlock.GapUnixConnect:
			// No socket(AF_UNIX) is let through, so there is nothing to connect with.
		}
	}
}

func hasGap(gaps []landlock.Gap, name landlock.GapName) bool {
	for _, g := range gaps {
		if g.Name == name {
			return true
		}
	}
	return false
}

// demand refuses a plan that does not keep what the caller requires.
func demand(plan Plan, required []string) error {
	if len(required) == 0 {
		return nil
	}
	all := plan.Guarantees()
	for _, name := range required {
		known := false
		for _, g := range all {
			if g.Name != name {
				continue
			}
			known = true
			if !g.Held {
				return &policy.BackendUnavailableError{Backend: string(plan.Backend), Needs: "guarantee " + name, Reason: g.Detail}
			}
		}
		if !known {
			return &policy.BackendUnavailableError{Needs: "no guarantee is called " + name, Remedy: "the guarantees: " + strings.Join(guaranteeNames(), ", ")}
		}
	}
	return nil
}

func guaranteeNames() []string {
	names := make([]string, len(promises))
	for i, p := range promises {
		names[i] = p.name
	}
	return names
}

// readOnlyInWritable finds a host directory that is mounted read-only inside a
// writable mount: Landlock's rules only add up, so the writable one's covers
// what appears below.
func readOnlyInWritable(l bwrap.Layout) (p string, found bool) {
	var writable []string
	for _, m := range l.Mounts {
		switch m.Op {
		case bwrap.Tmpfs, bwrap.Bind:
			writable = append(writable, m.Path)
		case bwrap.ROBind:
			inside := slices.ContainsFunc(writable, func(dir string) bool { return policy.Contains(dir, m.Path) })
			if inside && m.Type == policy.TypeDir {
				return m.Path, true
			}
		}
	}
	return "", false
}
