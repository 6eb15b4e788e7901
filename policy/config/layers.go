package config

import (
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// file adds what the file says, but for its variables (see build).
func (b *builder) file(src *Source, c *Config) {
	s := c.Sandbox
	if s == nil {
		return
	}
	mounts := s.Paths
	if s.Root != nil {
		b.form = policy.RootForm
		mounts = []Mount{*s.Root}
	}
	for _, m := range mounts {
		b.fileMount(src, s, m)
	}
	for _, v := range s.Deny {
		b.deny(origin{file: src.Name, at: v.Pos, text: "deny " + quote(v.V), dir: src.dir}, v.V)
	}
	for _, v := range s.Presets {
		p, _ := presetNamed(v.V)
		b.presets = append(b.presets, chosenPreset{p, policy.Rule{File: src.Name, Line: v.Line, Text: "preset " + p.name}})
	}
	b.system = s.System.V
	b.limits = s.Limits.Limits
	b.requireOS = s.RequireOS.Or(true)
	b.protect = policy.Protect(s.Protect.V)
	b.fileNetwork(src, s.Network)
	b.fileSockets(src, s.UnixSockets)
}

// fileSockets resolves the sockets of the host that a file grants.
func (b *builder) fileSockets(src *Source, u UnixSockets) {
	if !u.Given() {
		return
	}
	b.sockets = policy.Sockets{Own: true, Rule: policy.Rule{File: src.Name, Line: u.Line, Text: "unix_sockets"}}
	for _, v := range u.Paths {
		o := origin{file: src.Name, at: v.Pos, text: "unix_sockets: " + show(v.V), dir: src.dir, missing: "start what serves it first"}
		r, ok := b.resolveSocket(o, v.V)
		if ok {
			b.sockets.Paths = append(b.sockets.Paths, r.Path)
		}
	}
}

// fileMount adds one entry of paths, or the root.
func (b *builder) fileMount(src *Source, s *Sandbox, m Mount) {
	text := "path " + m.Name + ": " + show(m.Root.V)
	if m.Name == "/" {
		text = "root: " + show(m.Root.V)
	}
	o := origin{file: src.Name, at: m.Root.Pos, text: text, dir: src.dir, missing: "create it, or add optional: true"}
	if m.Name == "/" {
		o.missing = "create it first"
	}
	r, ok := b.cut(o, m.Root.V)
	if !ok {
		r, ok = b.resolve(o, m.Root.V, m.Optional.V)
	}
	if !ok {
		return
	}
	if m.Name == "/" && r.Type != policy.TypeDir {
		b.rootFault(o, nil, "write paths: {name: {root: "+show(m.Root.V)+"}}", "%s is a file: the root form takes a directory", show(m.Root.V))
		return
	}
	inside := policy.Contains(src.grants(), r.Path)
	if !inside && m.Name == "/" && src.Kind == Program {
		b.rootFault(o, nil, "a program's root is its directory or lies below it; paths can name places elsewhere", "root %s lies outside the program's directory", show(m.Root.V))
		return
	}
	// Granting a protected name opens what other tools execute by themselves.
	named := m.access(s) == policy.ReadAndWrite && inside && policy.NamesProtected(strings.TrimPrefix(r.Path, src.grants()+"/"))
	if !inside || named {
		b.outside = append(b.outside, Need{Pos: m.Root.Pos, What: text})
	}
	mount := policy.Mount{
		Name: m.Name, Root: r.Path, Written: m.Root.V, Mode: m.access(s), Type: r.Type,
		Suffixes: values(m.Suffixes), MaxFileBytes: m.MaxFileBytes.V,
		ReadApproval: m.ReadApproval.V, WriteApproval: m.WriteApproval.Or(true),
		Rule: o.rule(),
	}
	for _, first := range b.mounts {
		if first.Root == r.Path {
			err := &policy.DuplicateRootError{Root: r.Path, First: first, Second: mount}
			b.rootFault(o, err, "keep one of them", "mount %s has the same root as %s in line %d", quote(m.Name), quote(first.Name), first.Rule.Line)
			return
		}
	}
	b.addLinks(r.Links)
	b.mounts = append(b.mounts, mount)
}

// access combines the mode of a mount with readonly, which binds all mounts.
// The root form is writable unless it says otherwise.
func (m Mount) access(s *Sandbox) policy.Mode {
	switch {
	case s.Readonly.V || m.Readonly.V:
		return policy.ReadOnly
	case m.Name == "/":
		return policy.ReadAndWrite
	}
	return m.Mode.V
}

// values drops the places.
func values(list []Value[string]) []string {
	var all []string
	for _, v := range list {
		all = append(all, v.V)
	}
	return all
}

// deny adds a pattern that counts from the origin's directory.
func (b *builder) deny(o origin, pattern string) {
	if o.dir == "" && strings.Contains(pattern, "/") && !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~") {
		b.rootFault(o, nil, "give an absolute path", "the working directory is gone")
		return
	}
	d, err := policy.ParseDeny(pattern, o.dir, b.host.Places.Home, o.rule())
	if err != nil {
		b.rootFault(o, nil, "", "%v", err)
		return
	}
	b.denies = append(b.denies, d)
}

// fileNetwork sets the network. A list of hosts is kept, so that it can be
// shown and checked; Ready keeps it from being run without enforcement.
func (b *builder) fileNetwork(src *Source, n Network) {
	if !n.Given() {
		return
	}
	b.network = n.policy(src.Name)
	if n.Mode == policy.NetworkList {
		b.notYet(&NotAvailableError{File: src.Name, Pos: n.Pos, Key: "network: {allow: ...}", Fix: "write network: true or network: false, or give --net or --net=off"})
	}
}

// policy returns what the key means.
func (n Network) policy(file string) policy.Network {
	net := policy.Network{Mode: n.Mode, Rule: policy.Rule{File: file, Line: n.Line, Text: "network: " + n.Mode.String()}}
	for _, h := range n.Allow {
		net.Allow = append(net.Allow, h.V)
	}
	for _, h := range n.Deny {
		net.Deny = append(net.Deny, h.V)
	}
	return net
}

// fileEnv adds the file's variables after those of its presets.
func (b *builder) fileEnv(c *Config) {
	if c.Sandbox == nil {
		return
	}
	for _, v := range c.Sandbox.Env.Pass {
		b.env.pass(v.V)
	}
	for _, v := range c.Sandbox.Env.Set {
		b.env.set(v.Name, v.Value)
	}
}

// flags adds what the command line says; its variables are only checked here
// (see build).
func (b *builder) flags(f Flags) {
	for _, p := range f.RO {
		b.flagMount("--ro", p, policy.ReadOnly)
	}
	for _, p := range f.RW {
		b.flagMount("--rw", p, policy.ReadAndWrite)
	}
	for _, p := range f.Deny {
		b.deny(origin{text: flagText("--deny", p), dir: b.host.Places.Cwd}, p)
	}
	for _, name := range f.Presets {
		b.presetFlag(name)
	}
	if f.System != "" {
		system, err := policy.ParseSystemBase(f.System)
		if err != nil {
			b.flagFault(didYouMean(f.System, systemNames), "--%v", err)
		}
		b.system = system
	}
	if f.Protect != "" {
		protect, ok := policy.ParseProtect(f.Protect)
		if !ok {
			b.flagFault(didYouMean(f.Protect, protectNames[:]), "--protect: want existing or strict, got %s", quote(f.Protect))
		}
		b.protect = protect
	}
	if len(f.Net) > 0 {
		b.later = nil // the flag replaces what the file asked for
	}
	b.networkFlag(f.Net)
	for _, e := range f.Env {
		b.checkEnvFlag(e)
	}
	for _, l := range f.Limits {
		limits, err := SetLimit(b.limits, l)
		if err != nil {
			b.faults = append(b.faults, err)
			continue
		}
		b.limits = limits
	}
}

// presetFlag adds a preset that the file does not name already.
func (b *builder) presetFlag(name string) {
	p, ok := presetNamed(name)
	if !ok {
		m := unknownPreset(name)
		b.flagFault(m.fix, "%s: %s", flagText("--preset", name), m.what)
		return
	}
	for _, chosen := range b.presets {
		if chosen.name == name {
			return
		}
	}
	b.presets = append(b.presets, chosenPreset{p, policy.Rule{Text: "preset " + name}})
}
