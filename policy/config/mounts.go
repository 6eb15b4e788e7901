package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// origin is where a root was written: a place in a file, or a flag.
type origin struct {
	file    string
	at      Pos
	text    string // "path logs: ./logs", "--ro ./logs"
	missing string // what to do where the root does not exist
	dir     string // canonical directory that relative roots count from
}

// rule is what decisions that follow from this origin name.
func (o origin) rule() policy.Rule {
	return policy.Rule{File: o.file, Line: o.at.Line, Text: o.text}
}

// resolve turns a root as written into a place of the host.
func (b *builder) resolve(o origin, written string, optional bool) (policy.Resolution, bool) {
	r, ok := b.resolvePlace(o, written, optional)
	if ok && r.Type == policy.TypeSocket {
		b.rootFault(o, nil, "list it under unix_sockets", "%s is a socket: sockets of the host are not granted as paths", show(written))
		return r, false
	}
	return r, ok
}

// resolveSocket is resolve for a unix socket of the host.
func (b *builder) resolveSocket(o origin, written string) (policy.Resolution, bool) {
	r, ok := b.resolvePlace(o, written, false)
	if ok && r.Type != policy.TypeSocket {
		b.rootFault(o, nil, "", "%s is not a unix socket", show(written))
		return r, false
	}
	return r, ok
}

func (b *builder) resolvePlace(o origin, written string, optional bool) (policy.Resolution, bool) {
	expanded, m := expandHome(written, b.host.Places.Home)
	switch {
	case m != nil:
		b.rootFault(o, nil, m.fix, "%s", m.what)
		return policy.Resolution{}, false
	case !strings.HasPrefix(expanded, "/") && o.dir == "":
		b.rootFault(o, nil, "give an absolute path", "the working directory is gone")
		return policy.Resolution{}, false
	}
	r, err := b.lookup.ResolveRoot(o.dir, expanded, b.host.Places.Cwd)
	var linked *policy.LinkedRootError
	switch {
	case errors.As(err, &linked):
		linked.Written = show(written)
		b.rootFault(o, linked, linked.Hint(), "%v", linked)
	case err != nil:
		b.rootFault(o, err, "", "%s: %v", show(written), cause(err))
	case r.Type == policy.TypeMissing && optional:
	case r.Type == policy.TypeMissing:
		b.rootFault(o, nil, cmp.Or(nearPath(written, r.Path), o.missing), "%s does not exist", show(written))
	case r.Type == policy.TypeUnknown:
		b.rootFault(o, nil, "", "%s: permission denied", show(written))
	case policy.Contains("/proc", r.Path):
		b.rootFault(o, nil, "remove it: the command has a /proc of its own", "%s belongs to the sandbox", show(written))
	default:
		return r, true
	}
	return r, false
}

// rootFault records a fault and the typed error behind it.
func (b *builder) rootFault(o origin, cause error, fix, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	f := newFault(o.at, fix, "%s", message)
	f.File = o.file
	if o.file == "" {
		f.Message = o.text + ": " + message
	}
	b.faults = append(b.faults, f)
	if cause != nil {
		b.causes = append(b.causes, cause)
	}
}

// cause drops the operation and path that a message says in its own words.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// expandHome replaces a leading "~".
func expandHome(p, home string) (string, *mismatch) {
	switch {
	case p == "":
		return p, &mismatch{"an empty path", ""}
	case strings.IndexByte(p, 0) >= 0:
		return p, &mismatch{"a path with a NUL", ""}
	case p != "~" && !strings.HasPrefix(p, "~/"):
		return p, nil
	case home == "":
		return p, &mismatch{"there is no home for ~ to stand for", "set HOME, or write the path itself"}
	}
	return join(home, strings.TrimPrefix(p[1:], "/")), nil
}

// nearPath offers a name like the missing one from the directory in which
// the look-up ended.
func nearPath(written, resolved string) string {
	missing := resolved
	for {
		dir := path.Dir(missing)
		if r, err := policy.Resolve(dir); err != nil || dir == "/" || r.Type != policy.TypeMissing {
			break
		}
		missing = dir
	}
	entries, err := os.ReadDir(path.Dir(missing))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	name := near(path.Base(missing), names)
	if name == "" {
		return ""
	}
	if i := strings.LastIndex(written, path.Base(missing)); i >= 0 {
		return "did you mean " + show(written[:i]+name+written[i+len(path.Base(missing)):]) + "?"
	}
	return "did you mean " + show(join(path.Dir(missing), name)) + "?"
}

// flagMount adds what --ro and --rw grant. Where a mount has that root
// already, the access of both is joined.
func (b *builder) flagMount(name, written string, mode policy.Mode) {
	o := origin{text: flagText(name, written), dir: b.host.Places.Cwd, missing: "create it first"}
	r, ok := b.resolve(o, written, false)
	if !ok {
		return
	}
	b.addLinks(r.Links)
	for i, m := range b.mounts {
		if m.Root != r.Path {
			continue
		}
		if mode > m.Mode {
			b.mounts[i].Mode, b.mounts[i].Rule = mode, o.rule()
		}
		return
	}
	b.mounts = append(b.mounts, policy.Mount{
		Name: b.freeName(path.Base(r.Path)), Root: r.Path, Written: written, Mode: mode, Type: r.Type,
		WriteApproval: true, Rule: o.rule(),
	})
}

// freeName returns name if sandbox paths can use it. In the root form they
// name places by where they lie, so no mount but the root has a name.
func (b *builder) freeName(name string) string {
	if b.form == policy.RootForm || !validName(name) {
		return ""
	}
	for _, m := range b.mounts {
		if m.Name == name {
			return ""
		}
	}
	return name
}
