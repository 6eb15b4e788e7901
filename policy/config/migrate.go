package config

import (
	"path"
	"path/filepath"
	"strings"
)

// migration is the text by which a program gets the sandbox that an old-style
// worker had to itself. from and to are the canonical directories of the
// worker file and of the program; roots count from the latter.
func migration(sandbox *node, from, to string) string {
	var b strings.Builder
	b.WriteString("sandbox:\n")
	for _, p := range sandbox.pairs {
		switch {
		case p.key.text == "paths" && p.value.shape == table && len(p.value.pairs) > 0:
			b.WriteString("  paths:\n")
			for _, mount := range p.value.pairs {
				b.WriteString("    " + flow(mount.key) + ": " + flow(relocated(mount.value, from, to)) + "\n")
			}
		case p.key.text == "root":
			b.WriteString("  root: " + flow(relocatedRoot(p.value, from, to)) + "\n")
		default:
			b.WriteString("  " + flow(p.key) + ": " + flow(p.value) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// relocatedRoot is relocated for the root form, which may be a single text.
func relocatedRoot(n *node, from, to string) *node {
	if n.shape != scalar {
		return relocated(n, from, to)
	}
	return relocatedText(n, from, to)
}

// relocated copies a mount with its root seen from another directory.
func relocated(mount *node, from, to string) *node {
	moved := *mount
	moved.pairs = make([]pair, len(mount.pairs))
	for i, p := range mount.pairs {
		if p.key.text == "root" || p.key.text == "path" {
			p.value = relocatedText(p.value, from, to)
		}
		moved.pairs[i] = p
	}
	return &moved
}

func relocatedText(n *node, from, to string) *node {
	if path.IsAbs(n.text) || strings.HasPrefix(n.text, "~") {
		return n
	}
	rel, err := filepath.Rel(to, join(from, n.text))
	if err != nil {
		return n
	}
	if rel != "." && !strings.HasPrefix(rel, "..") {
		rel = "./" + rel
	}
	return &node{text: rel}
}

// flow writes a value on one line.
func flow(n *node) string {
	switch n.shape {
	case list:
		items := make([]string, len(n.items))
		for i, it := range n.items {
			items[i] = flow(it)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case table:
		pairs := make([]string, len(n.pairs))
		for i, p := range n.pairs {
			pairs[i] = flow(p.key) + ": " + flow(p.value)
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	}
	if n.quoted || n.text == "" || strings.Trim(n.text, plainText) != "" {
		return quote(n.text)
	}
	return n.text
}

// plainText are the characters that need no quotes anywhere in YAML, in texts
// that needed none before.
const plainText = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_~-"
