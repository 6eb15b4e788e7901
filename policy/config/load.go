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
	Derive      Derive       // still to be applied to Sandbox, at last
	Attachments *Attachments // nil where the file has none
	Sources     []Source     // the files it came from; at most one today
	Warnings    []Warning

	later []*NotAvailableError
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
	if flags.Worker != "" {
		return Loaded{}, &NotAvailableError{Key: flagText("--worker", flags.Worker), Fix: "the derive flags narrow a run: --restrict, --readonly, --allow-read, --allow-write"}
	}
	c, err := b.source(src)
	if err != nil {
		return Loaded{}, err
	}
	b.flags(flags)
	if err := b.err(); err != nil {
		return Loaded{}, err
	}
	if src != nil {
		if err := src.checkTrust(c, b.outside, host); err != nil {
			return Loaded{}, err
		}
	}
	return b.build(flags, src, c)
}

// source decodes the file, if there is one, and adds what it says.
func (b *builder) source(src *Source) (*Config, error) {
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
	if c.Sandbox == nil {
		b.warn("a sandbox key grants files; so do --ro and --rw", "%s has no sandbox: it grants nothing", src.Name)
	}
	b.file(src, c)
	b.faults = inOrder(b.faults)
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
func (b *builder) guarded(src *Source) []string {
	var files []string
	if src != nil {
		files = append(files, src.Path)
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
	host      Host
	form      policy.Form
	mounts    []policy.Mount
	denies    []policy.Deny
	links     []policy.Link
	system    policy.SystemBase
	presets   []chosenPreset
	network   policy.Network
	env       environ
	limits    policy.Limits
	requireOS bool

	outside  []Need // roots of the file that lie outside its directory
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
func (b *builder) build(flags Flags, src *Source, c *Config) (Loaded, error) {
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
		Form: b.form, Mounts: b.mounts, Denies: b.denies, Links: b.links, Guarded: b.guarded(src), Base: base, Places: b.host.Places,
		Network: b.network, Env: b.env.env, Limits: b.limits, RequireOS: b.requireOS,
	}
	if src != nil {
		loaded.Sources = []Source{*src}
		loaded.Attachments = c.Attachments
		spec.Sources = append(spec.Sources, src.Name)
	}
	spec.Sources = append(spec.Sources, flags.written()...)
	if loaded.Sandbox, err = policy.New(spec); err != nil {
		return Loaded{}, err
	}
	return loaded, nil
}
