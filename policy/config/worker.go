package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// workerSuffix ends the names of worker files.
const workerSuffix = ".worker"

// workerDirs are where a program's worker files lie, relative to it.
var workerDirs = [...]string{"", "workers"}

// Callee is the worker that a policy was narrowed to.
type Callee struct {
	Name    string
	File    string         // as messages name it: the worker file, or the file with the workers block
	Line    int            // 1-based line of its block in File; 0 where it has none
	Request policy.Request // what it asks of the program
	Inherit bool           // it has no block of its own, and keeps all that the program grants

	block *Worker
}

// WorkerError reports that a worker asks for more than its program grants, at
// the place where it does.
type WorkerError struct {
	File string
	Pos
	Worker string
	Err    error // usually a *policy.PermissionEscalationError
}

func (e *WorkerError) Error() string {
	return fmt.Sprintf("%s:%d:%d: worker %s: %v", e.File, e.Line, e.Col, show(e.Worker), e.Err)
}

// Unwrap makes the refusal visible to errors.As.
func (e *WorkerError) Unwrap() error { return e.Err }

// namesFile reports whether --worker means a file, not a worker of the
// program.
func namesFile(flag string) bool {
	return strings.Contains(flag, "/") || strings.HasSuffix(flag, workerSuffix)
}

// worker finds what --worker means and sets b.callee. Its own sandbox, if it
// is of the old style, becomes the program's.
func (b *builder) worker(flag string, src *Source, c *Config) (*WorkerFile, *Source, error) {
	if !namesFile(flag) {
		if src == nil {
			return nil, nil, &policy.ConfigError{Message: "--worker " + show(flag) + ": there is no program here that could have workers",
				Fix: "give the program with --config, or the worker's file: --worker ./" + show(flag) + workerSuffix}
		}
		found, err := b.named(flag, src, c)
		if err != nil || found == nil {
			return nil, nil, err
		}
		return b.workerFile(flag, found)
	}
	found, err := named(flag, b.host)
	if err != nil {
		return nil, nil, noSuchWorker(err, flag, b.host)
	}
	return b.workerFile(strings.TrimSuffix(path.Base(flag), workerSuffix), found)
}

// named looks for a worker of the program: in its workers block and in the
// files beside it. nil is a worker of the block. A name with two meanings is
// refused: a file must not shadow another one.
func (b *builder) named(name string, src *Source, c *Config) (*Source, error) {
	var places []string
	var found *Source
	for i, w := range c.Workers.List {
		if w.Name == name {
			places = append(places, fmt.Sprintf("%s:%d", src.Name, w.Line))
			b.callee = &Callee{Name: name, File: src.Name, Line: w.Line, block: &c.Workers.List[i]}
		}
	}
	for _, dir := range workerDirs {
		if !validName(name) {
			break
		}
		s, err := discover(join(src.dir, dir), name+workerSuffix, WorkerDefinition, b.host)
		if err != nil {
			return nil, err
		}
		if s != nil {
			found, s.top = s, src.dir
			places = append(places, s.Name)
		}
	}
	switch len(places) {
	case 0:
		return nil, &policy.ConfigError{Message: "--worker " + show(name) + ": no such worker in " + show(src.Name) + " or beside it", Fix: b.workerHint(name, src, c)}
	case 1:
		return found, nil
	}
	return nil, &policy.ConfigError{Message: "--worker " + show(name) + " means more than one: " + sentence(places), Fix: "rename one of them, or give the file"}
}

// workerHint offers the names that there are.
func (b *builder) workerHint(name string, src *Source, c *Config) string {
	var names []string
	for _, w := range c.Workers.List {
		names = append(names, w.Name)
	}
	for _, file := range workerFiles(src.dir) {
		names = append(names, strings.TrimSuffix(path.Base(file), workerSuffix))
	}
	names = slices.Compact(sorted(names))
	if hint := didYouMean(name, names); hint != "" {
		return hint
	}
	if len(names) == 0 {
		return "it has no workers: write a workers block, or NAME" + workerSuffix + " beside it"
	}
	return "workers are " + strings.Join(names, ", ")
}

// noSuchWorker adds near names to a worker file that does not exist.
func noSuchWorker(err error, flag string, host Host) error {
	p := flag
	if !path.IsAbs(p) {
		p = join(host.Places.Cwd, p)
	}
	var fault *policy.ConfigError
	if _, statErr := os.Lstat(p); !errors.As(err, &fault) || !errors.Is(statErr, fs.ErrNotExist) {
		return err
	}
	fault.Message, fault.Fix = "no such worker file", ""
	dir, base := path.Split(flag)
	var names []string
	entries, _ := os.ReadDir(path.Dir(p))
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), workerSuffix); ok {
			names = append(names, name)
		}
	}
	if name := near(strings.TrimSuffix(base, workerSuffix), names); name != "" {
		fault.Fix = "did you mean " + show(dir+name+workerSuffix) + "?"
	}
	return fault
}

// workerFiles lists the worker files of the program in dir.
func workerFiles(dir string) []string {
	var files []string
	for _, sub := range workerDirs {
		entries, err := os.ReadDir(join(dir, sub))
		if err != nil {
			continue // a directory that cannot be listed has no workers to offer
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), workerSuffix) && e.Type().IsRegular() {
				files = append(files, path.Join(dir, sub, e.Name()))
			}
		}
	}
	return files
}

// workerFile decodes a worker's file.
func (b *builder) workerFile(name string, src *Source) (*WorkerFile, *Source, error) {
	w, faults := DecodeWorker(src.data)
	if len(faults) > 0 {
		return nil, nil, &FaultsError{Faults: inFile(src.Name, faults)}
	}
	for _, doubt := range w.Doubts {
		b.warn("did you mean sandbox: {"+doubt.V+": ...}?", "%s:%d: key %s is not read by sbx", src.Name, doubt.Line, quote(doubt.V))
	}
	if w.Name.Given() && w.Name.V != name {
		b.warn("", "%s:%d: the worker calls itself %s; the name of its file counts", src.Name, w.Name.Line, quote(w.Name.V))
	}
	b.callee = &Callee{Name: name, File: src.Name, block: w.Block, Inherit: w.Block == nil}
	if w.Block != nil {
		b.callee.Line = w.Block.Line
	}
	return w, src, nil
}

// oldStyle makes the sandbox of an old-style worker the program's, which must
// have none of its own, and says what to write instead.
func (b *builder) oldStyle(w *WorkerFile, worker, program *Source, c *Config) (*Config, error) {
	if c != nil && c.Sandbox != nil {
		return nil, &policy.ConfigError{
			File: worker.Name, Line: w.Old.Line, Col: w.Old.Col,
			Message: "the worker has a sandbox of its own, and its program " + show(program.Name) + " has one too",
			Fix:     "narrow the program's instead: sandbox: {restrict, readonly, allow_read, allow_write, deny}; roots belong into " + show(program.Name),
		}
	}
	dir, file := worker.dir, "program.yaml"
	if program != nil {
		dir, file = program.dir, program.Name
	} else if path.Base(dir) == "workers" {
		dir = path.Dir(dir)
	}
	b.warn("move that text into "+show(file)+" and remove sandbox from "+show(worker.Name),
		"%s:%d: a worker with a sandbox of its own; it counts as the program's. In a program it reads:\n%s",
		worker.Name, w.Old.Line, migration(w.oldNode, worker.dir, dir))
	own := &Config{Kind: Program, Sandbox: w.Old}
	if c != nil {
		own.Attachments = c.Attachments
	}
	return own, nil
}

// narrowTo derives the callee's sandbox from the program's.
func (b *builder) narrowTo(program policy.Sandbox, dir string) (policy.Sandbox, error) {
	callee := b.callee
	callee.Request = policy.Request{Inherit: true, Rule: policy.Rule{File: callee.File, Line: callee.Line, Text: "worker " + callee.Name}}
	if callee.block != nil {
		request, err := callee.block.request(callee, dir, b.host)
		if err != nil {
			return policy.Sandbox{}, err
		}
		callee.Request = request
	}
	sandbox, err := program.Derive(callee.Request)
	if err != nil {
		at := Pos{Line: max(callee.Line, 1), Col: 1}
		if callee.block != nil {
			at = callee.block.blame(err)
		}
		return policy.Sandbox{}, &WorkerError{File: callee.File, Pos: at, Worker: callee.Name, Err: err}
	}
	return sandbox, nil
}

// request makes a derivation of the block. Without inherit and lists all that
// the program grants stays: every other key only narrows it.
func (w *Worker) request(callee *Callee, dir string, host Host) (policy.Request, error) {
	r := policy.Request{
		Restrict:   w.Restrict.V,
		AllowRead:  w.AllowRead.items(),
		AllowWrite: w.AllowWrite.items(),
		Inherit:    w.Inherit.Or(w.AllowRead == nil && w.AllowWrite == nil),
		Limits:     w.Limits.Limits,
		Rule:       policy.Rule{File: callee.File, Line: callee.Line, Text: "worker " + callee.Name},
	}
	if w.Readonly.Given() {
		r.Readonly = &w.Readonly.V
	}
	for _, v := range w.Deny {
		d, err := policy.ParseDeny(v.V, dir, host.Places.Home, policy.Rule{File: callee.File, Line: v.Line, Text: "deny " + quote(v.V)})
		if err != nil {
			return r, &policy.ConfigError{File: callee.File, Line: v.Line, Col: v.Col, Message: err.Error()}
		}
		r.Deny = append(r.Deny, d)
	}
	if w.Network.Given() {
		n := w.Network.policy(callee.File)
		r.Network = &n
	}
	return r, nil
}

// items returns nil for no list, and a list that is not nil for one.
func (s *Strings) items() []string {
	if s == nil {
		return nil
	}
	return append([]string{}, values(s.Items)...)
}

// blame finds the key that a refusal is about.
func (w *Worker) blame(err error) Pos {
	var escalation *policy.PermissionEscalationError
	var request *policy.RequestError
	asked := ""
	switch {
	case errors.As(err, &escalation):
		asked = escalation.Asked
	case errors.As(err, &request):
		asked = request.Argument + "='" + request.Value + "'"
	}
	for _, list := range []struct {
		name string
		at   *Strings
	}{{"allow_read", w.AllowRead}, {"allow_write", w.AllowWrite}} {
		if list.at == nil || !strings.HasPrefix(asked, list.name) {
			continue
		}
		for _, item := range list.at.Items {
			if asked == list.name+"='"+item.V+"'" {
				return item.Pos
			}
		}
		return list.at.Pos
	}
	for _, key := range []struct {
		name string
		at   Pos
	}{{"restrict", w.Restrict.Pos}, {"readonly", w.Readonly.Pos}, {"network", w.Network.Pos}, {"limits", w.Limits.Pos}} {
		if strings.HasPrefix(asked, key.name) && key.at.Given() {
			return key.at
		}
	}
	return w.Pos
}
