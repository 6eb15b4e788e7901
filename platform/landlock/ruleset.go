package landlock

import (
	"fmt"
	"path"
	"slices"
)

// Access is a set of what a grant opens.
type Access uint8

const (
	// Read opens reading and executing files, and listing directories.
	Read Access = 1 << iota
	// Write opens making, writing, cutting, renaming, linking and removing files and
	// directories, but not making device nodes. A rename or link to a directory with
	// more access is refused (EXDEV).
	Write
	// Control opens ioctl on device files, beyond the few requests that are always
	// allowed. Terminals need it.
	Control
	// Connect opens the unix sockets that programs outside have bound there.
	Connect

	allAccess = Read | Write | Control | Connect
)

// String returns the names of the set's members, such as "read write".
func (a Access) String() string {
	return names(uint64(a), []string{"read", "write", "control", "connect"})
}

func (a Access) rights() rights {
	var r rights
	if a&Read != 0 {
		r |= execute | readFile | readDir
	}
	if a&Write != 0 {
		r |= writeFile | truncate | refer | removeDir | removeFile |
			makeDir | makeReg | makeSock | makeFifo | makeSym
	}
	if a&Control != 0 {
		r |= ioctlDev
	}
	if a&Connect != 0 {
		r |= resolveUnix
	}
	return r
}

// Grant opens a file, or a directory with all below it.
type Grant struct {
	// Path is absolute and clean, and without symbolic links at the time of Apply. With
	// FD it is only what errors call it.
	Path string
	// FD, if not 0, is the file or directory itself, opened in any way (O_PATH will do).
	// It stays the caller's to close.
	FD     int
	Access Access
}

// Ports is a limit on one transport protocol.
type Ports struct {
	// Limit refuses all ports but those below.
	Limit bool
	// Bind lists the local ports that may be bound. 0 means one that the kernel
	// chooses; for UDP, sending without binding needs it.
	Bind []uint16
	// Connect lists the remote ports that may be connected or sent to, at any address.
	Connect []uint16
}

// Ruleset is what a sandbox asks of Landlock. The zero value asks for nothing.
type Ruleset struct {
	// Files refuses access to all files but those of Grants.
	Files  bool
	Grants []Grant

	TCP, UDP Ports
	Scope    Scope
}

// RulesetError reports a Ruleset that means nothing: a mistake of the caller, not
// of the machine.
type RulesetError struct {
	Subject string // the path or field
	Problem string
}

func (e RulesetError) Error() string {
	return fmt.Sprintf("landlock ruleset: %s: %s", e.Subject, e.Problem)
}

func (r Ruleset) check() error {
	if !r.Files && len(r.Grants) > 0 {
		return RulesetError{"grants", "without a limit on files they have no effect"}
	}
	for _, g := range r.Grants {
		if err := g.check(); err != nil {
			return err
		}
	}
	if err := r.TCP.check("tcp"); err != nil {
		return err
	}
	if err := r.UDP.check("udp"); err != nil {
		return err
	}
	if r.Scope&^allScopes != 0 {
		return RulesetError{"scope", fmt.Sprintf("no such bits: %#x", uint8(r.Scope&^allScopes))}
	}
	return nil
}

func (p Ports) check(field string) error {
	if !p.Limit && len(p.Bind)+len(p.Connect) > 0 {
		return RulesetError{field, "ports without a limit have no effect"}
	}
	if slices.Contains(p.Connect, 0) {
		return RulesetError{field, "port 0 cannot be connected to"}
	}
	return nil
}

func (g Grant) check() error {
	switch {
	case g.FD < 0:
		return RulesetError{g.String(), "negative descriptor"}
	case g.FD == 0 && !path.IsAbs(g.Path):
		return RulesetError{g.String(), "neither a descriptor nor an absolute path"}
	case g.FD == 0 && path.Clean(g.Path) != g.Path:
		return RulesetError{g.String(), "path is not clean"}
	case g.Access == 0:
		return RulesetError{g.String(), "grants nothing"}
	case g.Access&^allAccess != 0:
		return RulesetError{g.String(), fmt.Sprintf("no such access bits: %#x", uint8(g.Access&^allAccess))}
	}
	return nil
}

// String returns the path, or the descriptor's number where there is none.
func (g Grant) String() string {
	if g.Path != "" {
		return g.Path
	}
	return fmt.Sprintf("descriptor %d", g.FD)
}
