package config

import (
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// network reads its three forms: false, true, or a table of hosts.
func (d *decoder) network(n *node) Network {
	net := Network{Pos: n.Pos}
	if n.shape != table {
		if on := d.bool(n, "network"); on.V {
			net.Mode = policy.NetworkOn
		}
		return net
	}
	net.Mode = policy.NetworkList
	if object(d, n, "network", networkFields(), &net) && len(net.Allow) == 0 {
		d.fault(n.Pos, "write network: false for none, network: true for all", "network has no allow list")
	}
	return net
}

// networkFields are the keys of the network table.
func networkFields() []field[Network] {
	return []field[Network]{
		{"allow", func(d *decoder, n *node, net *Network) { net.Allow = d.hosts(n, "allow") }},
		{"deny", func(d *decoder, n *node, net *Network) { net.Deny = d.hosts(n, "deny") }},
	}
}

// hosts reads host rules. An empty list is refused: whether it means nothing
// or everything, two readers would answer differently.
func (d *decoder) hosts(n *node, name string) []Value[policy.HostRule] {
	rules := []Value[policy.HostRule]{}
	if n.shape == list && len(n.items) == 0 {
		d.fault(n.Pos, "write network: false for no host at all", "%s: an empty list", name)
	}
	for _, v := range d.strings(n, name) {
		rule, err := policy.ParseHostRule(v.V)
		switch {
		case err != nil && strings.Contains(v.V, "://"):
			d.fault(v.Pos, hostFix(v.V), "%s: want host or host:port, got the URL %s", name, quote(v.V))
			continue
		case err != nil:
			d.fault(v.Pos, hostFix(v.V), "%s: %v", name, err)
			continue
		}
		rules = append(rules, Value[policy.HostRule]{V: rule, Pos: v.Pos})
	}
	return rules
}

// hostFix strips what belongs to a URL.
func hostFix(s string) string {
	_, rest, ok := strings.Cut(s, "://")
	if !ok {
		rest = s
	}
	rest, _, cut := strings.Cut(rest, "/")
	if _, err := policy.ParseHostRule(rest); err != nil || !ok && !cut {
		return ""
	}
	return "write " + rest
}

// envFields are the keys of the env block.
func envFields() []field[Env] {
	return []field[Env]{
		{"pass", func(d *decoder, n *node, e *Env) {
			e.Pass = d.strings(n, "pass")
			for _, v := range e.Pass {
				if m := checkEnvPattern(v.V); m != nil {
					d.fault(v.Pos, m.fix, "pass: %s", m.what)
				}
			}
		}},
		{"set", func(d *decoder, n *node, e *Env) { e.Set = d.variables(n) }},
	}
}

// variables reads names with values. A value is text: YAML readers disagree on
// what 010 or yes turn into.
func (d *decoder) variables(n *node) []Variable {
	if !d.want(n, table, "set", "a table of variables") {
		return nil
	}
	var set []Variable
	d.each(n, func(key, value *node) {
		if m := checkEnvName(key.text); m != nil {
			d.fault(key.Pos, m.fix, "set: %s", m.what)
			return
		}
		if v := d.string(value, key.text); v.Given() {
			set = append(set, Variable{Pos: key.Pos, Name: key.text, Value: v.V})
		}
	})
	return set
}

// checkEnvName accepts what shells call a name.
func checkEnvName(s string) *mismatch {
	for i, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case i > 0 && c >= '0' && c <= '9':
		default:
			return &mismatch{"not the name of a variable: " + quote(s), ""}
		}
	}
	if s == "" {
		return &mismatch{"an empty name", ""}
	}
	return nil
}

// checkEnvPattern accepts a name in which "*" stands for any text; "*" alone
// would pass every secret that the caller has.
func checkEnvPattern(s string) *mismatch {
	bare := strings.ReplaceAll(s, "*", "")
	if bare == "" && s != "" {
		return &mismatch{quote(s) + " would pass every variable, secrets too", "name the variables, or a prefix such as CI_*"}
	}
	if name, _, ok := strings.Cut(s, "="); ok && checkEnvName(name) == nil {
		return &mismatch{quote(s) + " gives a value", "values stand under env.set"}
	}
	if policy.LoaderVariable(s) {
		return &mismatch{quote(s) + " steers the loader of every program and is never passed on", "leave it out, or give it a value of its own"}
	}
	if strings.HasPrefix(s, "*") {
		bare = "_" + bare
	}
	if checkEnvName(bare) != nil {
		return &mismatch{"not the name of a variable: " + quote(s), ""}
	}
	return nil
}

// limits reads the limits block.
func (d *decoder) limits(n *node) Limits {
	l := Limits{Pos: n.Pos}
	object(d, n, "limits", limitFields(), &l)
	return l
}

// limitFields are the keys of the limits block: the limits that the command
// line knows too, and strict.
func limitFields() []field[Limits] {
	fields := []field[Limits]{
		{"strict", func(d *decoder, n *node, l *Limits) { l.Strict = d.bool(n, "strict").V }},
	}
	for _, spec := range limitSpecs() {
		fields = append(fields, field[Limits]{spec.name, func(d *decoder, n *node, l *Limits) {
			if !d.want(n, scalar, spec.name, spec.want) {
				return
			}
			if spec.bare && (n.quoted || n.sort != number) {
				d.fault(n.Pos, "", "%s: want %s, got %s", spec.name, spec.want, n.kind())
				return
			}
			if m := spec.set(&l.Limits, n.text); m != nil {
				d.fault(n.Pos, m.fix, "%s: %s", spec.name, m.what)
			}
		}})
	}
	return fields
}
