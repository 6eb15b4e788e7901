package policy

import (
	"path"
	"strings"
)

// A sandbox path names a place the way the sandbox's user does: "/src/a.go"
// or "src/a.go" in the root form, "docs/a.md" or "docs:a.md" in the path form.
// Backslashes count as slashes, so a host file whose name holds one has no
// sandbox path. A leading "~", a drive letter, an absolute path of the host
// and a ".." that leaves the mount are outside, whatever they lead to.

// pathProblem says what is wrong with a sandbox path, as a clause.
type pathProblem string

func (p pathProblem) Error() string { return string(p) }

const errOutside = pathProblem("path is outside sandbox")

// hostPathProblem refuses an absolute path that was meant for the host.
type hostPathProblem struct {
	inside string // how to name the place of the sandbox that it also names
}

func (hostPathProblem) Error() string { return errOutside.Error() }

// hostPath returns the host path that p names, with no link followed.
func (s Sandbox) hostPath(p string) (string, error) {
	host, err := s.placeOf(p)
	if err == nil && s.spec.Form == RootForm && s.meansHost(p) {
		return "", hostPathProblem{inside: strings.TrimLeft(p, `/\`)}
	}
	return host, err
}

// placeOf is hostPath without a guess at what an absolute path means.
func (s Sandbox) placeOf(p string) (string, error) {
	switch {
	case p == "":
		return "", pathProblem("the path is empty")
	case strings.IndexByte(p, 0) >= 0:
		return "", pathProblem("the path holds a NUL")
	case p[0] == '~' || hasDrive(p) || strings.HasPrefix(p, `\\`):
		return "", errOutside
	}
	name, rest := "/", strings.ReplaceAll(p, `\`, "/")
	if s.spec.Form == PathForm {
		name, rest = splitMountName(rest)
	}
	m, ok := s.mountNamed(name)
	if !ok || climbs(rest) {
		return "", errOutside
	}
	if rest = strings.Trim(rest, "/"); rest == "" {
		return m.Root, nil
	}
	return join(m.Root, rest), nil
}

func (s Sandbox) mountNamed(name string) (Mount, bool) {
	for _, m := range s.spec.Mounts {
		if m.Name == name && name != "" {
			return m, true
		}
	}
	return Mount{}, false
}

// splitMountName splits "name/rest" and "name:rest". An absolute path has no
// name.
func splitMountName(p string) (name, rest string) {
	for strings.HasPrefix(p, "./") {
		p = strings.TrimLeft(p[2:], "/")
	}
	i := strings.IndexAny(p, "/:")
	if i < 0 {
		return p, ""
	}
	return p[:i], p[i+1:]
}

// climbs reports whether a ".." of p leads above where p starts.
func climbs(p string) bool {
	depth := 0
	for name := range strings.SplitSeq(p, "/") {
		switch name {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return true
			}
		default:
			depth++
		}
	}
	return false
}

func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

// isTopName tells the names that the top of a host has, on Linux or macOS.
func isTopName(name string) bool {
	switch name {
	case "bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var",
		"Applications", "Library", "System", "Users", "Volumes", "private":
		return true
	}
	return false
}

// meansHost guesses whether an absolute path was meant for the host, where
// taking it for a sandbox path would only name what does not exist: "/etc" in
// a program without an etc, or the host path of the program itself. The guess
// is the same for all sandboxes of one root, so a child never understands more
// than its parent; "etc/x" without the slash always means the sandbox.
func (s Sandbox) meansHost(p string) bool {
	p = path.Clean(strings.ReplaceAll(p, `\`, "/"))
	if len(p) < 2 || p[0] != '/' {
		return false
	}
	first, _, _ := strings.Cut(p[1:], "/")
	m, _ := s.mountNamed("/")
	if !isTopName(first) && !Contains(m.Root, p) {
		return false
	}
	r, err := Resolve(join(m.Root, first))
	return err == nil && r.Type == TypeMissing
}

// SandboxPath returns the sandbox path of a canonical host path. It is false
// where no mount with a name holds it.
func (s Sandbox) SandboxPath(host string) (string, bool) {
	return asSandboxPath(tableOf(s.spec.Mounts), host)
}
