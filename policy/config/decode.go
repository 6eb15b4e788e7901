package config

import (
	"bytes"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// Decode reads the text of a file. It returns either the configuration or all
// faults, in file order; the faults name no file.
func Decode(data []byte, kind Kind) (*Config, []*policy.ConfigError) {
	root, faults := parse(data)
	if len(faults) > 0 {
		return nil, faults
	}
	c := &Config{Kind: kind}
	if root == nil {
		return c, nil
	}
	d := &decoder{kind: kind}
	d.file(root, c)
	if len(d.faults) > 0 {
		return nil, inOrder(within(data, d.faults))
	}
	return c, nil
}

// within moves a fault of a value that is not there back into the text: YAML
// puts what a bare "---" starts on the line after the last one.
func within(data []byte, faults []*fault) []*fault {
	lines := bytes.Count(data, []byte("\n")) + 1
	if !bytes.Contains(data, []byte("\n")) {
		lines = bytes.Count(data, []byte("\r")) + 1
	}
	for _, f := range faults {
		f.Line = min(f.Line, lines)
	}
	return faults
}

// file picks the keys that a file of this kind may hold at its top.
func (d *decoder) file(root *node, c *Config) {
	switch d.kind {
	case Program:
		d.program(root, c)
	case User:
		object(d, root, "the file", append(fileFields(), field[Config]{"workspace", (*decoder).workspace}), c)
	default:
		object(d, root, "the file", append(fileFields(), field[Config]{"workspace", refuseWorkspace}), c)
	}
}

// program reads the one key of a program file that is ours. What its owner
// writes in the others may use all of YAML; a merge key is refused, because
// it could bring in a sandbox that we do not see.
func (d *decoder) program(root *node, c *Config) {
	if !d.want(root, table, "the file", "a table of keys") {
		return
	}
	own := &node{Pos: root.Pos, shape: table}
	for _, p := range root.pairs {
		switch {
		case p.key.text == "sandbox", p.key.odd == "a merge key":
			own.pairs = append(own.pairs, p)
		case p.key.shape == scalar && near(p.key.text, []string{"sandbox"}) != "":
			c.Doubts = append(c.Doubts, Value[string]{V: p.key.text, Pos: p.key.Pos})
		}
	}
	object(d, own, "the file", []field[Config]{{"sandbox", (*decoder).sandboxKey}}, c)
}

// fileFields are the top-level keys of every file but a program's.
func fileFields() []field[Config] {
	return []field[Config]{
		{"version", func(d *decoder, n *node, c *Config) {
			if v := d.count(n, "version", 1<<31); v.Given() && v.V != 1 {
				d.fault(n.Pos, "write version: 1, or use a newer sbx", "version: this sbx reads version 1, got %d", v.V)
			}
		}},
		{"sandbox", (*decoder).sandboxKey},
		{"workers", func(d *decoder, n *node, c *Config) { c.Workers = d.workers(n) }},
		{"attachments", func(d *decoder, n *node, c *Config) { c.Attachments = d.attachments(n) }},
	}
}

// refuseWorkspace keeps a repository from moving the user's workspace: the key
// counts in the user's file alone.
func refuseWorkspace(d *decoder, n *node, _ *Config) {
	d.fault(n.Pos, "move it to ~/.config/sbx/config.yaml", "workspace belongs to the user, not to a project")
}

// sandboxKey reads the sandbox block. What is said to be missing is said only
// where the block has no other fault: a misspelt "root" is not a second one.
func (d *decoder) sandboxKey(n *node, c *Config) {
	s := &Sandbox{Pos: n.Pos}
	whole := object(d, n, "sandbox", sandboxFields(), s)
	c.Sandbox = s
	switch {
	case s.Root != nil && s.PathsAt.Given():
		d.fault(later(s.Root.Pos, s.PathsAt), "keep one of them", "sandbox has both root and paths")
	case s.Root == nil && !s.PathsAt.Given() && d.kind != User && whole:
		d.fault(n.Pos, "write root: . for this directory, or paths: {} to grant nothing", "sandbox has neither root nor paths")
	}
	if s.Root != nil && s.Root.Readonly.Given() && s.Readonly.Given() {
		d.fault(later(s.Root.Readonly.Pos, s.Readonly.Pos), "keep one of them", "readonly stands both in root and beside it")
	}
}

// later returns the place that a reader reaches last: a contradiction shows
// where its second half stands.
func later(a, b Pos) Pos {
	if a.Line > b.Line || a.Line == b.Line && a.Col > b.Col {
		return a
	}
	return b
}

// sandboxFields are the keys of the sandbox block.
func sandboxFields() []field[Sandbox] {
	return []field[Sandbox]{
		{"root", func(d *decoder, n *node, s *Sandbox) { s.Root = d.root(n) }},
		{"paths", func(d *decoder, n *node, s *Sandbox) { s.PathsAt = n.Pos; s.Paths = d.paths(n) }},
		{"readonly", func(d *decoder, n *node, s *Sandbox) { s.Readonly = d.bool(n, "readonly") }},
		{"deny", func(d *decoder, n *node, s *Sandbox) { s.Deny = d.denies(n) }},
		{"system", func(d *decoder, n *node, s *Sandbox) {
			s.System = oneOf[policy.SystemBase](d, n, "system", systemNames)
		}},
		{"presets", func(d *decoder, n *node, s *Sandbox) { s.Presets = d.presets(n) }},
		{"network", func(d *decoder, n *node, s *Sandbox) { s.Network = d.network(n) }},
		{"env", func(d *decoder, n *node, s *Sandbox) {
			s.Env.Pos = n.Pos
			object(d, n, "env", envFields(), &s.Env)
		}},
		{"limits", func(d *decoder, n *node, s *Sandbox) { s.Limits = d.limits(n) }},
		{"require_os_sandbox", func(d *decoder, n *node, s *Sandbox) { s.RequireOS = d.bool(n, "require_os_sandbox") }},
		{"dynamic", func(d *decoder, n *node, s *Sandbox) { s.Dynamic = d.bool(n, "dynamic") }},
		{"unix_sockets", func(d *decoder, n *node, s *Sandbox) { s.UnixSockets = d.sockets(n) }},
		{"protect", func(d *decoder, n *node, s *Sandbox) {
			s.Protect = oneOf[Protect](d, n, "protect", protectNames[:])
		}},
	}
}

// systemNames are in the order of the policy.SystemBase values.
var systemNames = []string{"minimal", "host", "none"}

// denies checks each pattern as a pattern; what it counts from comes later.
func (d *decoder) denies(n *node) []Value[string] {
	values := d.strings(n, "deny")
	for _, v := range values {
		if _, err := policy.ParseDeny(v.V, "/", "/", policy.Rule{}); err != nil {
			d.fault(v.Pos, "", "deny: %v", err)
		}
	}
	return values
}

// presets checks the names here, so that a file with an unknown preset is
// faulty on every machine.
func (d *decoder) presets(n *node) []Value[string] {
	values := d.strings(n, "presets")
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		if seen[v.V] {
			d.fault(v.Pos, "", "presets: %s stands twice", quote(v.V))
		}
		seen[v.V] = true
		if _, ok := presetNamed(v.V); !ok {
			m := unknownPreset(v.V)
			d.fault(v.Pos, m.fix, "presets: %s", m.what)
		}
	}
	return values
}

// sockets reads a list of paths, or the word private for the command's own.
func (d *decoder) sockets(n *node) UnixSockets {
	u := UnixSockets{Pos: n.Pos}
	if n.shape == scalar && n.text == "private" && d.plain(n, "unix_sockets") {
		return u
	}
	u.Paths = d.strings(n, "unix_sockets")
	for _, v := range u.Paths {
		if v.V == "" {
			d.fault(v.Pos, "", "unix_sockets: an empty path")
		}
	}
	return u
}

// root reads both spellings of the root form: a path, or a table.
func (d *decoder) root(n *node) *Mount {
	m := &Mount{Pos: n.Pos, Name: "/"}
	if n.shape == scalar {
		m.Root = d.path(n, "root")
		return m
	}
	if object(d, n, "root", rootFields(), m) && !m.Root.Given() {
		d.fault(n.Pos, "write {path: .}", "root has no path")
	}
	return m
}

// rootFields are the keys of the root form's table. "root" is another spelling
// of "path", which older files use.
func rootFields() []field[Mount] {
	setPath := func(d *decoder, n *node, m *Mount) {
		if m.Root.Given() {
			d.fault(n.Pos, "keep path", "root has both path and root")
			return
		}
		m.Root = d.path(n, "path")
	}
	return []field[Mount]{
		{"path", setPath},
		{"root", setPath},
		{"readonly", func(d *decoder, n *node, m *Mount) { m.Readonly = d.bool(n, "readonly") }},
		{"suffixes", func(d *decoder, n *node, m *Mount) { m.Suffixes = d.suffixes(n, "suffixes") }},
		{"max_file_bytes", func(d *decoder, n *node, m *Mount) { m.MaxFileBytes = d.size(n, "max_file_bytes", true) }},
	}
}

// paths reads the mounts in file order. An empty table is a sandbox that
// grants nothing, unlike none at all, which is more likely a slip.
func (d *decoder) paths(n *node) []Mount {
	if n.shape == list {
		d.fault(n.Pos, "write paths: {name: {root: ./path}}", "paths: want a table of names, got a list")
		return nil
	}
	if !d.want(n, table, "paths", "a table of names") {
		return nil
	}
	mounts := []Mount{}
	d.each(n, func(key, value *node) {
		if !validName(key.text) {
			d.fault(key.Pos, nameFix(key.text),
				"mount name %s: want two or more of A-Z a-z 0-9 . _ -, the first a letter or digit", quote(key.text))
		}
		m := Mount{Pos: key.Pos, Name: key.text}
		if value.shape == scalar && value.sort == text && value.odd == "" {
			d.fault(value.Pos, "write {root: "+show(value.text)+"}", "%s: want a table of keys, got %s", show(key.text), value.kind())
			return
		}
		if object(d, value, show(key.text), mountFields(), &m) && !m.Root.Given() {
			d.fault(key.Pos, "write {root: "+show("./"+key.text)+"}", "mount %s has no root", quote(key.text))
		}
		mounts = append(mounts, m)
	})
	return mounts
}

// mountFields are the keys of one mount.
func mountFields() []field[Mount] {
	return []field[Mount]{
		{"root", func(d *decoder, n *node, m *Mount) { m.Root = d.path(n, "root") }},
		{"mode", func(d *decoder, n *node, m *Mount) { m.Mode = d.mode(n) }},
		{"suffixes", func(d *decoder, n *node, m *Mount) { m.Suffixes = d.suffixes(n, "suffixes") }},
		{"max_file_bytes", func(d *decoder, n *node, m *Mount) { m.MaxFileBytes = d.size(n, "max_file_bytes", true) }},
		{"read_approval", func(d *decoder, n *node, m *Mount) { m.ReadApproval = d.bool(n, "read_approval") }},
		{"write_approval", func(d *decoder, n *node, m *Mount) { m.WriteApproval = d.bool(n, "write_approval") }},
		{"optional", func(d *decoder, n *node, m *Mount) { m.Optional = d.bool(n, "optional") }},
	}
}

// path accepts the text of a root. "~user" is refused: whose home that is,
// only a name service knows.
func (d *decoder) path(n *node, name string) Value[string] {
	v := d.string(n, name)
	switch {
	case !v.Given():
	case v.V == "":
		d.fault(v.Pos, "write . for the directory of the file", "%s: an empty path", name)
	case strings.HasPrefix(v.V, "~") && v.V != "~" && !strings.HasPrefix(v.V, "~/"):
		d.fault(v.Pos, "write the path itself; "+show("./"+v.V)+" if it is a name here", "%s: only ~ and ~/ stand for a home", name)
	}
	return v
}

// validName reports whether s can name a mount: [A-Za-z0-9][A-Za-z0-9._-]+,
// two characters or more, so that no drive letter passes.
func validName(s string) bool {
	for i, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return len(s) >= 2
}

// nameFix offers the nearest name that is valid.
func nameFix(s string) string {
	fixed := strings.TrimLeft(strings.Map(func(c rune) rune {
		if c < 0x80 && (validName("a"+string(c)) || c == '.') {
			return c
		}
		return '-'
	}, s), "._-")
	if !validName(fixed) {
		return ""
	}
	return "write " + fixed
}
