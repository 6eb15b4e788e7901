package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// field is one key of a table: the field tables are the whole grammar, which
// the JSON Schema is tested against.
type field[T any] struct {
	key string
	set func(d *decoder, n *node, to *T)
}

// decoder collects the faults of one file.
type decoder struct {
	kind   Kind
	faults []*policy.ConfigError
}

// fault records one fault and goes on: a file is reported as a whole.
func (d *decoder) fault(at Pos, fix, format string, args ...any) {
	d.faults = append(d.faults, newFault(at, fix, format, args...))
}

// object decodes the table n by its fields and reports whether it is without
// fault, so that only then something is said to be missing in it. name is for
// messages.
func object[T any](d *decoder, n *node, name string, fields []field[T], to *T) bool {
	before := len(d.faults)
	if !d.want(n, table, name, "a table of keys") {
		return false
	}
	keys := keysOf(fields)
	d.each(n, func(key, value *node) {
		for _, f := range fields {
			if f.key == key.text {
				f.set(d, value, to)
				return
			}
		}
		d.fault(key.Pos, adviseKey(key.text, keys), "unknown key %s", quote(key.text))
	})
	return len(d.faults) == before
}

// adviseKey says what to write instead of an unknown key: the nearest key of
// this table, the table that has it, or all that this table has.
func adviseKey(key string, keys []string) string {
	if key == "readonly" && slices.Contains(keys, "mode") {
		return "write mode: ro"
	}
	if hint := didYouMean(key, keys); hint != "" {
		return hint
	}
	for _, other := range []struct {
		name string
		keys []string
	}{{"sandbox", keysOf(sandboxFields())}, {"sandbox.env", keysOf(envFields())}, {"sandbox.limits", keysOf(limitFields())}, {"the top of the file", keysOf(fileFields())}} {
		if slices.Contains(other.keys, key) {
			return "it belongs into " + other.name
		}
	}
	return "keys here are " + strings.Join(sorted(keys), ", ")
}

// keysOf lists the keys of a field table.
func keysOf[T any](fields []field[T]) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

// each calls visit for every pair of the table whose key is a plain name that
// stands there for the first time.
func (d *decoder) each(n *node, visit func(key, value *node)) {
	seen := make(map[string]int, len(n.pairs))
	for _, p := range n.pairs {
		if !d.plain(p.key, "key") {
			continue
		}
		if p.key.shape != scalar {
			d.fault(p.key.Pos, "", "a key must be a name, not %s", p.key.kind())
			continue
		}
		if first, ok := seen[p.key.text]; ok {
			d.fault(p.key.Pos, "", "key %s stands twice, first in line %d", quote(p.key.text), first)
			continue
		}
		seen[p.key.text] = p.key.Line
		visit(p.key, p.value)
	}
}

// plain refuses what YAML can carry besides values.
func (d *decoder) plain(n *node, name string) bool {
	if n.odd == "" {
		return true
	}
	d.fault(n.Pos, "write the value itself", "%s: %s is not allowed", name, n.odd)
	return false
}

// want checks the shape of n and refuses null with words of its own.
func (d *decoder) want(n *node, s shape, name, what string) bool {
	switch {
	case !d.plain(n, name):
		return false
	case n.shape == scalar && n.sort == null:
		d.fault(n.Pos, "give a value or remove the key", "%s has no value: want %s", name, what)
		return false
	case n.shape != s:
		d.fault(n.Pos, "", "%s: want %s, got %s", name, what, n.kind())
		return false
	}
	return true
}

// elements returns the items of a list; a single text stands for a list of
// one.
func (d *decoder) elements(n *node, name string) (items []*node, ok bool) {
	if n.shape == scalar && n.sort != null && d.plain(n, name) {
		return []*node{n}, true
	}
	if n.odd != "" && n.shape == scalar {
		return nil, false
	}
	if !d.want(n, list, name, "a list") {
		return nil, false
	}
	return n.items, true
}

// item names an element of a list for messages, counted from 0 as in YAML
// paths.
func item(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }
