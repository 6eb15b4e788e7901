package platform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/policy"
)

// mostNamed is how many paths a detail names before it counts the rest.
const mostNamed = 5

// exposureDetail says which files that other tools execute a command can
// still make or replace, and what would change that; "" if it can none.
func exposureDetail(plan Plan) string {
	x := plan.Effective.Exposure()
	var parts []string
	if len(x.Absent) > 0 {
		parts = append(parts, "can be made where they do not exist: "+named(pathsOf(x.Absent))+"; protect: strict closes this, and a report follows the run")
	}
	if loose := unpinned(plan, x.Loose); len(loose) > 0 {
		parts = append(parts, "symbolic links can be replaced, or lead to where all is writable: "+named(pathsOf(loose)))
	}
	if len(x.Unseen) > 0 {
		parts = append(parts, "not searched for repositories: "+named(x.Unseen))
	}
	if len(parts) == 0 && len(plan.Layout.Absent) > 0 { // a policy that was never looked up
		parts = append(parts, "can be made where they do not exist: "+named(entryPaths(plan.Layout.Absent)))
	}
	return strings.Join(parts, "; ")
}

// deniedDetail says which links a command can replace although what they lead
// to is denied; "" if there are none.
func deniedDetail(plan Plan) string {
	loose := unpinned(plan, plan.Effective.Exposure().Denied)
	if len(loose) == 0 {
		return ""
	}
	return "what these symbolic links lead to is closed, but the links can be replaced: " + named(pathsOf(loose)) + "; a report follows the run"
}

// unpinned returns the links that the plan does not make mount points of.
func unpinned(plan Plan, links []policy.Trigger) (loose []policy.Trigger) {
	if len(links) == 0 {
		return nil
	}
	pinned := map[string]bool{}
	for _, m := range plan.Layout.Mounts {
		if m.Op == bwrap.PinLink {
			pinned[m.Path] = true
		}
	}
	for _, t := range links {
		if t.Link == "" || !pinned[t.Path] {
			loose = append(loose, t)
		}
	}
	return loose
}

func pathsOf(triggers []policy.Trigger) []string {
	paths := make([]string, len(triggers))
	for i, t := range triggers {
		paths[i] = t.Path
	}
	return paths
}

func entryPaths(entries []policy.Entry) []string {
	paths := make([]string, len(entries))
	for i, e := range entries {
		paths[i] = e.Path
	}
	return paths
}

// named lists a few paths and counts the rest.
func named(paths []string) string {
	if len(paths) <= mostNamed {
		return strings.Join(paths, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(paths[:mostNamed], ", "), len(paths)-mostNamed)
}

// refuseLoose is the error for a policy that asks for ProtectStrict and has
// links that a command could replace all the same.
func refuseLoose(plan Plan) error {
	e := plan.Effective
	if e.Protect != policy.ProtectStrict || !e.RequireOS {
		return nil
	}
	x := e.Exposure()
	loose := unpinned(plan, slices.Concat(x.Loose, x.Denied))
	if len(loose) == 0 {
		return nil
	}
	return &policy.BackendUnavailableError{
		Backend: string(plan.Backend), Needs: "guarantee " + GuaranteeProtected + " (protect: strict)",
		Reason: "a command could replace what is a symbolic link and cannot be pinned here: " + named(pathsOf(loose)),
		Remedy: "put what the link leads to in its place, grant its directory for reading only, or protect: existing",
	}
}

// refuseStrict is the error for a policy that asks for ProtectStrict where
// nothing can be mounted over what does not exist. A policy that lets nothing
// be written loses nothing.
func refuseStrict(e policy.Effective, backend Backend) error {
	if e.Protect != policy.ProtectStrict || len(e.Writable()) == 0 {
		return nil
	}
	return &policy.BackendUnavailableError{
		Backend: string(backend), Needs: "guarantee " + GuaranteeProtected + " (protect: strict)",
		Reason: "without namespaces, files that other tools execute are writable where their directory is",
		Remedy: "make bubblewrap work (sbx doctor), or protect: existing",
	}
}
