package config

import (
	"fmt"
	"os"
	"slices"

	"github.com/sbx-run/sbx/policy"
)

// Loaded is the result of Load: a policy, and what there is to say about it.
type Loaded struct {
	Sandbox     policy.Sandbox
	Program     policy.Sandbox    // what Sandbox was before the worker narrowed it
	Worker      *Callee           // nil without --worker
	Workspace   *WorkspaceInForce // nil where no workspace counts
	Derive      Derive            // still to be applied to Sandbox, at last
	Attachments *Attachments      // nil where the file has none
	Sources     []Source          // the files it came from: the program's, the worker's
	Warnings    []Warning

	later []*NotAvailableError
	cut   []string // roots that the caller does not show
}

// Ready reports what the policy asks for and no backend enforces yet, as a
// *NotAvailableError. A run must not start with it; showing and checking may.
func (l Loaded) Ready() error {
	if len(l.later) > 0 {
		return l.later[0]
	}
	return nil
}

// Load finds the file that counts, adds the flags and resolves both on this
// host. Errors are *FaultsError or *policy.ConfigError (what is written is
// wrong), *TrustError (the user has to approve the file) and
// *NotAvailableError. Without a file and flags the result grants nothing but
// the system base.
func Load(flags Flags, host Host) (Loaded, error) {
	b := &builder{host: host, requireOS: true}
	src, err := find(flags, host)
	if err != nil {
		return Loaded{}, err
	}
	c, worker, err := b.decode(flags, src)
	if err != nil {
		return Loaded{}, err
	}
	b.keep(hiddenBy(src, flags, host), src, c, flags)
	b.flags(flags)
	if err := b.err(); err != nil {
		return Loaded{}, err
	}
	if err := b.checkTrust(c, src, worker); err != nil {
		return Loaded{}, err
	}
	loaded, err := b.build(flags, src, worker, c)
	if err != nil || b.callee == nil {
		return loaded, err
	}
	return b.narrow(loaded, src, worker)
}

// decode reads the program and, where one is asked for, the worker. worker is
// nil where no file of its own defines it.
func (b *builder) decode(flags Flags, src *Source) (c *Config, worker *Source, err error) {
	if src != nil && src.Kind == WorkerDefinition {
		return nil, nil, &policy.ConfigError{File: src.Name, Message: "a worker file narrows a program and is none itself", Fix: "--worker " + show(src.Name)}
	}
	if c, err = b.text(src); err != nil {
		return nil, nil, err
	}
	b.addWorkspace(flags, src, c)
	program := src
	if flags.Worker != "" {
		file, found, err := b.worker(flags.Worker, src, c)
		if err != nil {
			return nil, nil, err
		}
		worker = found
		switch {
		case file != nil && file.Old == nil && src == nil:
			b.warn("put it beside a program.yaml that has a sandbox", "%s has no program: it gets no files", worker.Name)
		case file != nil && file.Old != nil:
			if c, err = b.oldStyle(file, worker, src, c); err != nil {
				return nil, nil, err
			}
			program, b.grantsOwn = worker, true
		}
	}
	b.fileFaults(program, c)
	return c, worker, nil
}

// addWorkspace adds the workspace where it is what counts: the user's file
// does, or nothing but the caller's wish for it.
func (b *builder) addWorkspace(flags Flags, src *Source, c *Config) {
	var w *Workspace
	if c != nil {
		w = c.Workspace
	}
	named := flags.Config != ""
	if file, ok := b.host.lookup("SBX_CONFIG"); ok && file != "" {
		named = true
	}
	if w != nil || b.host.wantsWorkspace() && !named {
		b.workspace(src, w)
	}
}

// fileFaults adds what the file says, its faults in the order of its lines.
func (b *builder) fileFaults(src *Source, c *Config) {
	if src == nil {
		return
	}
	if c != nil && c.Sandbox == nil && b.space == nil {
		b.warn("a sandbox key grants files; so do --ro and --rw", "%s has no sandbox: it grants nothing", src.Name)
	}
	if c != nil {
		b.file(src, c)
	}
	b.faults = inOrder(b.faults)
}

// narrow applies the worker. What it denies counts from its own file.
func (b *builder) narrow(loaded Loaded, src, worker *Source) (Loaded, error) {
	dir := ""
	switch {
	case worker != nil:
		dir = worker.dir
	case src != nil:
		dir = src.dir
	}
	var err error
	if loaded.Sandbox, err = b.narrowTo(loaded.Program, dir); err != nil {
		return Loaded{}, err
	}
	loaded.Worker = b.callee
	if n := loaded.Sandbox.Effective().Network; n.Mode == policy.NetworkList && len(loaded.later) == 0 {
		loaded.later = append(loaded.later, &NotAvailableError{
			File: b.callee.File, Pos: b.callee.block.Network.Pos, Key: "network: {allow: ...}", Fix: "write network: true or network: false",
		})
	}
	return loaded, nil
}

// text decodes the program's file, if there is one.
func (b *builder) text(src *Source) (*Config, error) {
	if src == nil {
		b.misnamed()
		return nil, nil
	}
	c, faults := Decode(src.data, src.Kind)
	if len(faults) > 0 {
		return nil, &FaultsError{Faults: inFile(src.Name, faults)}
	}
	if err := unavailable(src.Name, c); err != nil {
		return nil, err
	}
	for _, doubt := range c.Doubts {
		b.warn("did you mean sandbox?", "%s:%d: key %s is not read by sbx", src.Name, doubt.Line, quote(doubt.V))
	}
	return c, nil
}

// misnamed warns of a file that looks as if it were meant to be found.
func (b *builder) misnamed() {
	for _, name := range []string{"sbx.yml", ".sbx.yaml", ".sbx.yml"} {
		if b.host.Places.Cwd == "" {
			return
		}
		if _, err := os.Lstat(join(b.host.Places.Cwd, name)); err == nil {
			b.warn("rename it to sbx.yaml, or give --config "+name, "%s is not read", name)
		}
	}
}

// guarded lists the files that decide about later runs: the one that this run
// loaded, and what a search would find at the top of a writable root.
// A worker that could rewrite the file of another would choose what that one
// gets next.
func (b *builder) guarded(src, worker *Source) []string {
	var files []string
	for _, s := range []*Source{src, worker} {
		if s != nil {
			files = append(files, s.Path)
			files = append(files, workerFiles(s.dir)...)
		}
	}
	for _, h := range b.kept {
		files = append(files, h.Path)
	}
	for _, m := range b.mounts {
		if m.Mode != policy.ReadAndWrite || m.Type != policy.TypeDir {
			continue
		}
		for _, d := range discovered {
			if p := join(m.Root, d.name); !slices.Contains(files, p) {
				files = append(files, p)
			}
		}
	}
	return files
}

// inFile names the file in all faults.
func inFile(name string, faults []*policy.ConfigError) []*policy.ConfigError {
	for _, f := range faults {
		f.File = name
	}
	return faults
}

// builder collects a policy.Spec from a file, then flags, then presets.
type builder struct {
	host       Host
	lookup     policy.Lookup
	form       policy.Form
	mounts     []policy.Mount
	denies     []policy.Deny
	links      []policy.Link
	system     policy.SystemBase
	presets    []chosenPreset
	network    policy.Network
	env        environ
	limits     policy.Limits
	requireOS  bool
	sockets    policy.Sockets
	protect    policy.Protect
	callee     *Callee
	space      *WorkspaceInForce // nil where no workspace counts
	unconfined policy.Rule       // who disabled the workspace; zero where it is enforced

	gone      []string // roots that the caller does not show
	grantsOwn bool     // the worker's own sandbox, of the old style, is the program's

	outside  []Need   // roots of the file that lie outside its directory
	lost     []Need   // what a hidden policy holds that cannot be added to the file
	kept     []hidden // policies whose bounds were added to the file's
	faults   []*policy.ConfigError
	causes   []error
	warnings []Warning
	later    []*NotAvailableError
}

// chosenPreset is a preset and the line or flag that asked for it.
type chosenPreset struct {
	preset
	rule policy.Rule
}

// warn records what the user should know; fix may be empty.
func (b *builder) warn(fix, format string, args ...any) {
	b.warnings = append(b.warnings, Warning{Message: fmt.Sprintf(format, args...), Fix: fix})
}

// flagFault records a fault of the command line, which has no place.
func (b *builder) flagFault(fix, format string, args ...any) {
	b.faults = append(b.faults, newFault(Pos{}, fix, format, args...))
}

// notYet records what Ready refuses.
func (b *builder) notYet(e *NotAvailableError) { b.later = append(b.later, e) }

// err returns all faults so far as one error, or nil.
func (b *builder) err() error {
	if len(b.faults) == 0 {
		return nil
	}
	return &FaultsError{Faults: b.faults, Causes: b.causes}
}

// build resolves what depends on everything else: presets come after the
// mounts, so that they never narrow one, and before the variables of file
// and flags, so that these count.
func (b *builder) build(flags Flags, src, worker *Source, c *Config) (Loaded, error) {
	base, err := policy.ResolveBase(b.system, b.network.Mode, b.host.Places)
	if err != nil {
		return Loaded{}, err
	}
	for _, p := range b.presets {
		b.addPreset(p.preset, p.rule, policy.NewArea(base.Entries...))
	}
	if c != nil {
		b.fileEnv(c)
	}
	for _, e := range flags.Env {
		b.env.flag(e)
	}
	loaded := Loaded{Derive: flags.Derive, Warnings: b.warnings, later: b.later}
	spec := policy.Spec{
		Form: b.form, Mounts: b.mounts, Denies: b.denies, Links: b.links, Guarded: b.guarded(src, worker), Base: base, Places: b.host.Places,
		Network: b.network, Env: b.env.env, Limits: b.limits, RequireOS: b.requireOS, Sockets: b.sockets, Protect: b.protect,
	}
	for _, s := range []*Source{src, worker} {
		if s != nil {
			loaded.Sources = append(loaded.Sources, *s)
			spec.Sources = append(spec.Sources, s.Name)
		}
	}
	for _, h := range b.kept {
		spec.Sources = append(spec.Sources, "bounds of "+h.Name)
	}
	if c != nil {
		loaded.Attachments = c.Attachments
	}
	spec.Sources = append(spec.Sources, flags.written()...)
	loaded.Workspace, loaded.cut = b.space, b.gone
	if loaded.Sandbox, err = b.sandbox(flags, spec); err != nil {
		return Loaded{}, err
	}
	loaded.Program = loaded.Sandbox
	return loaded, nil
}

// sandbox makes the policy, or none where the user has disabled it.
func (b *builder) sandbox(flags Flags, spec policy.Spec) (policy.Sandbox, error) {
	if b.unconfined != (policy.Rule{}) {
		return b.unconfine(flags, spec)
	}
	return policy.New(spec)
}
