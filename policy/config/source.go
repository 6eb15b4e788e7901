package config

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// Source is a file that a policy came from.
type Source struct {
	Name       string   // as messages name it
	Path       string   // canonical
	Links      []string // symbolic links on the way from Name to Path, which steer the next run as the file does
	Kind       Kind
	Discovered bool   // found, not named: it may grant its own directory only
	SHA256     string // of the content, in hexadecimal

	dir   string // canonical directory that relative paths count from
	top   string // canonical directory that a discovered file may grant; empty for dir
	owner string // what speaks against the file's owner; empty if nothing
	data  []byte
}

// discovered are the names that a search looks for, the first counts.
var discovered = [...]struct {
	name string
	kind Kind
}{{"sbx.yaml", Project}, {"program.yaml", Program}}

// find returns the file that counts: the first of --config, SBX_CONFIG, the
// user's file where a session or SBX_WORKSPACE asks for the workspace, the
// nearest file upward, the user's file. nil is none at all.
func find(flags Flags, host Host) (*Source, error) {
	if flags.Config != "" {
		return named(flags.Config, host)
	}
	if file, ok := host.lookup("SBX_CONFIG"); ok && file != "" {
		return named(file, host)
	}
	if host.wantsWorkspace() {
		return userFile(host)
	}
	s, err := nearest(searchFrom(flags, host), 0, host)
	if s != nil || err != nil {
		return s, err
	}
	return last(flags, host)
}

// nearest searches upward from dir, in which it begins with the first-th name.
func nearest(dir string, first int, host Host) (*Source, error) {
	for ; dir != ""; dir, first = above(dir), 0 {
		for _, d := range discovered[first:] {
			s, err := discover(dir, d.name, d.kind, host)
			if s != nil || err != nil {
				return s, err
			}
		}
	}
	return nil, nil
}

// last returns what counts where a search finds nothing.
func last(flags Flags, host Host) (*Source, error) {
	if namesFile(flags.Worker) {
		return nil, nil // a worker without a program gets nothing
	}
	return userFile(host)
}

// userFile reads the user's file, if there is one. One that cannot be looked
// at, as after sudo -u with another's HOME, grants nothing; that is what a
// run without it grants.
func userFile(host Host) (*Source, error) {
	if _, err := os.Lstat(host.UserFile); err == nil {
		return named(host.UserFile, host)
	}
	return nil, nil
}

// wantsWorkspace reports whether the caller asks for the workspace whatever
// policy a search would find.
func (h Host) wantsWorkspace() bool {
	root, ok := h.lookup("SBX_WORKSPACE")
	return h.Session != nil || ok && root != ""
}

// searchFrom is where the search for a program begins: at the worker file, if
// one is named, since it belongs to the program that it lies in.
func searchFrom(flags Flags, host Host) string {
	if !namesFile(flags.Worker) {
		return host.Places.Cwd
	}
	p := flags.Worker
	if !path.IsAbs(p) {
		p = join(host.Places.Cwd, p)
	}
	file, err := policy.Resolve(p)
	if err != nil {
		return ""
	}
	return path.Dir(file.Path)
}

// grants returns the directory that the file may grant without trust.
func (s *Source) grants() string { return cmp.Or(s.top, s.dir) }

// above returns the parent, and "" for the root.
func above(dir string) string {
	if dir == "/" {
		return ""
	}
	return path.Dir(dir)
}

// discover reads the file name in dir if there is one. A symbolic link is
// refused: its target's author did not put a policy here.
func discover(dir, name string, kind Kind, host Host) (*Source, error) {
	p := join(dir, name)
	before, err := os.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil // a directory that we may not search holds nothing that we could read
	}
	s := &Source{Name: displayName(p, host.Places.Cwd), Path: p, Kind: kind, Discovered: true, dir: dir}
	if err != nil {
		return nil, readError(s.Name, err)
	}
	if names, err := os.ReadDir(p); before.IsDir() && err == nil && len(names) == 0 {
		return nil, nil // grants nothing; a strict run holds the name by one
	}
	if !before.Mode().IsRegular() {
		return nil, &policy.ConfigError{File: s.Name, Message: "not a regular file", Fix: "name it with --config if you mean it"}
	}
	s.owner = foreignOwner(before, host)
	return s, s.read(before)
}

// named reads a file that the user named. It may be a link or a pipe.
func named(written string, host Host) (*Source, error) {
	p := written
	if !strings.HasPrefix(p, "/") {
		if host.Places.Cwd == "" {
			return nil, &policy.ConfigError{File: written, Message: "the working directory is gone", Fix: "give an absolute path"}
		}
		p = join(host.Places.Cwd, p)
	}
	dir, err := policy.Resolve(path.Dir(p))
	if err != nil {
		return nil, readError(written, err)
	}
	file, err := policy.Resolve(p)
	if err != nil {
		return nil, readError(written, err)
	}
	s := &Source{Name: written, Path: file.Path, Kind: kindOf(file.Path, host), dir: dir.Path}
	for _, l := range file.Links {
		s.Links = append(s.Links, l.Path)
	}
	return s, s.read(nil)
}

// kindOf tells the role of a named file by its canonical path.
func kindOf(p string, host Host) Kind {
	if user, err := policy.Resolve(host.UserFile); err == nil && user.Path == p {
		return User
	}
	switch {
	case path.Base(p) == "program.yaml":
		return Program
	case strings.HasSuffix(p, workerSuffix):
		return WorkerDefinition
	}
	return Project
}

// read takes the content once, for checking, hashing and use. Where before
// is given, the file opened must be that one.
func (s *Source) read(before fs.FileInfo) error {
	f, err := os.Open(s.Path)
	if err != nil {
		return readError(s.Name, err)
	}
	defer f.Close()
	if before != nil {
		now, err := f.Stat()
		if err != nil || !os.SameFile(before, now) {
			return &policy.ConfigError{File: s.Name, Message: "changed while it was read"}
		}
	}
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(f, maxBytes+1)); err != nil {
		return readError(s.Name, err)
	}
	s.data = b.Bytes()
	sum := sha256.Sum256(s.data)
	s.SHA256 = hex.EncodeToString(sum[:])
	return nil
}

// readError words a file that cannot be read without repeating its path.
func readError(name string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	fix := ""
	if errors.Is(err, fs.ErrNotExist) {
		fix = "sbx init writes a starter file"
	}
	return &policy.ConfigError{File: name, Message: "cannot read the configuration: " + err.Error(), Fix: fix}
}

// displayName spells a discovered file the short way where that is clear.
func displayName(p, cwd string) string {
	if cwd != "" && cwd != "/" && policy.Contains(cwd, p) {
		return strings.TrimPrefix(p, cwd+"/")
	}
	return p
}
