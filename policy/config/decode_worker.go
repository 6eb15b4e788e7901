package config

// workers reads the narrowings that a program's workers ask for.
func (d *decoder) workers(n *node) Workers {
	w := Workers{Pos: n.Pos}
	if !d.want(n, table, "workers", "a table of names") {
		return w
	}
	d.each(n, func(key, value *node) {
		one := Worker{Pos: key.Pos, Name: key.text}
		if !validName(key.text) {
			d.fault(key.Pos, nameFix(key.text),
				"worker name %s: want two or more of A-Z a-z 0-9 . _ -, the first a letter or digit", quote(key.text))
		}
		if object(d, value, show(key.text), workerFields(), &one) {
			d.checkWorker(value, one)
		}
		w.List = append(w.List, one)
	})
	return w
}

// workerFields are the keys of one worker. All of them narrow.
func workerFields() []field[Worker] {
	return []field[Worker]{
		{"restrict", func(d *decoder, n *node, w *Worker) { w.Restrict = d.sandboxPath(n, "restrict") }},
		{"readonly", func(d *decoder, n *node, w *Worker) { w.Readonly = d.bool(n, "readonly") }},
		{"inherit", func(d *decoder, n *node, w *Worker) { w.Inherit = d.bool(n, "inherit") }},
		{"allow_read", func(d *decoder, n *node, w *Worker) { w.AllowRead = d.sandboxPaths(n, "allow_read") }},
		{"allow_write", func(d *decoder, n *node, w *Worker) { w.AllowWrite = d.sandboxPaths(n, "allow_write") }},
		{"deny", func(d *decoder, n *node, w *Worker) { w.Deny = d.denies(n) }},
		{"network", func(d *decoder, n *node, w *Worker) { w.Network = d.network(n) }},
		{"limits", func(d *decoder, n *node, w *Worker) { w.Limits = d.limits(n) }},
	}
}

// checkWorker refuses blocks whose meaning two readers would guess
// differently.
func (d *decoder) checkWorker(n *node, w Worker) {
	switch {
	case len(n.pairs) == 0:
		d.fault(w.Pos, "write inherit: true for all of the program's access, inherit: false for none", "%s", w.emptyText())
	case w.Restrict.Given() && w.Inherit.Given() && !w.Inherit.V:
		d.fault(later(w.Restrict.Pos, w.Inherit.Pos), "keep one of them", "restrict keeps what inherit: false drops")
	}
}

// emptyText says which block is empty; that of a worker file has no name.
func (w Worker) emptyText() string {
	if w.Name == "" {
		return "the sandbox block is empty"
	}
	return "worker " + quote(w.Name) + " is empty"
}

// sandboxPath reads a path as the tools name it, not a path of the host.
func (d *decoder) sandboxPath(n *node, name string) Value[string] {
	v := d.string(n, name)
	d.checkSandboxPath(v, name)
	return v
}

// sandboxPaths keeps an empty list apart from none: the one allows nothing,
// the other does not restrict.
func (d *decoder) sandboxPaths(n *node, name string) *Strings {
	s := &Strings{Pos: n.Pos, Items: d.strings(n, name)}
	for _, v := range s.Items {
		d.checkSandboxPath(v, name)
	}
	return s
}

// checkSandboxPath refuses what no form accepts; whether the path exists in
// the program's sandbox is a question for the derivation.
func (d *decoder) checkSandboxPath(v Value[string], name string) {
	switch {
	case !v.Given():
	case v.V == "":
		d.fault(v.Pos, "", "%s: an empty path", name)
	case hasDotDot(v.V):
		d.fault(v.Pos, "write the path from the top of the sandbox", "%s: %s holds ..", name, quote(v.V))
	case v.V[0] == '~':
		d.fault(v.Pos, "sandbox paths start with / or with the name of a mount", "%s: %s is a path of the host", name, quote(v.V))
	}
}

// hasDotDot reports whether a component is "..", in both spellings of a
// sandbox path: mount/a/b and mount:a/b.
func hasDotDot(p string) bool {
	for rest := p; rest != ""; {
		name := rest
		rest = ""
		for i := range len(name) {
			if name[i] == '/' || name[i] == ':' {
				name, rest = name[:i], name[i+1:]
				break
			}
		}
		if name == ".." {
			return true
		}
	}
	return false
}

// attachments reads the bounds of what a caller hands on.
func (d *decoder) attachments(n *node) *Attachments {
	a := &Attachments{Pos: n.Pos}
	object(d, n, "attachments", attachmentFields(), a)
	return a
}

// attachmentFields are the keys of the attachments block.
func attachmentFields() []field[Attachments] {
	return []field[Attachments]{
		{"max_count", func(d *decoder, n *node, a *Attachments) { a.MaxCount = d.count(n, "max_count", maxBytes) }},
		{"max_bytes", func(d *decoder, n *node, a *Attachments) { a.MaxBytes = d.size(n, "max_bytes", true) }},
		{"suffixes", func(d *decoder, n *node, a *Attachments) { a.Suffixes = d.suffixes(n, "suffixes") }},
	}
}

// workspace reads the user's workspace.
func (d *decoder) workspace(n *node, c *Config) {
	w := &Workspace{Pos: n.Pos}
	object(d, n, "workspace", workspaceFields(), w)
	c.Workspace = w
}

// workspaceFields are the keys of the workspace block.
func workspaceFields() []field[Workspace] {
	return []field[Workspace]{
		{"root", func(d *decoder, n *node, w *Workspace) { w.Root = d.path(n, "root") }},
		{"mode", func(d *decoder, n *node, w *Workspace) { w.Mode = d.mode(n) }},
		{"enabled", func(d *decoder, n *node, w *Workspace) { w.Enabled = d.bool(n, "enabled") }},
		{"allow", func(d *decoder, n *node, w *Workspace) { w.Allow = d.workspaceRules(n) }},
	}
}

// workspaceRules keeps the order of the file: the first match wins.
func (d *decoder) workspaceRules(n *node) []WorkspaceRule {
	if !d.want(n, list, "allow", "a list of rules") {
		return nil
	}
	rules := make([]WorkspaceRule, 0, len(n.items))
	for i, it := range n.items {
		r := WorkspaceRule{Pos: it.Pos}
		if object(d, it, item("allow", i), ruleFields(), &r) && !r.Path.Given() {
			d.fault(it.Pos, "write {path: ~/projects, mode: rw}", "%s has no path", item("allow", i))
		}
		rules = append(rules, r)
	}
	return rules
}

// ruleFields are the keys of one workspace rule.
func ruleFields() []field[WorkspaceRule] {
	return []field[WorkspaceRule]{
		{"path", func(d *decoder, n *node, r *WorkspaceRule) { r.Path = d.path(n, "path") }},
		{"mode", func(d *decoder, n *node, r *WorkspaceRule) { r.Mode = d.mode(n) }},
	}
}
