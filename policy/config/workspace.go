package config

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// The workspace is the user's own policy: ordered rules, of which the first
// match wins, and the root is the first rule.
//
// An Area knows no order: its most specific entry decides. Both say the same
// once the rules that can never match are dropped. If of two rules i < j
// neither root lies in the other, no path matches both. If root j lies in
// root i, rule j never matches. If root i lies in root j, rule i decides for
// what both match, and it is the more specific one.

// Overrides are what a session changes of the workspace. The user's file
// stays as it is.
type Overrides struct {
	ID      string          `json:"id"`
	Root    string          `json:"root,omitempty"`    // absolute; replaces the file's root and makes it writable
	Mode    string          `json:"mode,omitempty"`    // of the root: ro or rw
	Enabled *bool           `json:"enabled,omitempty"` // nil: as in the file
	Allow   []OverrideAllow `json:"allow,omitempty"`   // after the file's rules
}

// OverrideAllow is a rule that a session adds.
type OverrideAllow struct {
	Path string `json:"path"` // absolute
	Mode string `json:"mode"` // ro or rw
}

// WorkspaceInForce is a workspace as a run has it, for its status.
type WorkspaceInForce struct {
	Root    string // canonical
	Enabled bool
	Rules   []WorkspaceRuleInForce // the root first
}

// WorkspaceRuleInForce is one rule, in order.
type WorkspaceRuleInForce struct {
	Path string // canonical where it exists
	Mode policy.Mode
	Rule policy.Rule
	Idle string // why it matches nothing; empty where it does
}

// defaultWorkspace is the root where neither file nor environment name one.
const defaultWorkspace = "~/.local/share/sbx/workspace"

// workspaceRule is a rule with the place where it was written.
type workspaceRule struct {
	written string
	mode    policy.Mode
	origin  origin
	root    bool
}

// workspace adds the rules in force: the file's, changed by SBX_WORKSPACE or
// by the session. src and w are nil where the user has none.
func (b *builder) workspace(src *Source, w *Workspace) {
	rules := b.workspaceRules(src, w)
	enabled, rule := w == nil || w.Enabled.Or(true), policy.Rule{}
	if w != nil && w.Enabled.Given() {
		rule = policy.Rule{File: src.Name, Line: w.Enabled.Line, Text: "workspace: {enabled: false}"}
	}
	if s := b.host.Session; s != nil && s.Enabled != nil {
		enabled, rule = *s.Enabled, policy.Rule{Text: "session " + s.ID + ": disabled"}
	}
	b.space = &WorkspaceInForce{Enabled: enabled}
	if !enabled {
		b.unconfined = rule
	}
	for i, r := range rules {
		in := WorkspaceRuleInForce{Path: r.written, Mode: r.mode, Rule: r.origin.rule()}
		resolved, ok := b.workspacePlace(r)
		if ok {
			in.Path = resolved.Path
			in.Idle = b.idle(resolved.Path)
		} else {
			in.Idle = "it does not exist"
		}
		if i == 0 {
			b.space.Root = in.Path
		} else if in.Idle != "" {
			b.warn("", "workspace rule %s matches nothing: %s", show(r.written), in.Idle)
		}
		b.space.Rules = append(b.space.Rules, in)
		if ok && in.Idle == "" {
			b.workspaceMount(r, resolved)
		}
	}
	b.host.Places.Workspace = b.space.Root
}

// idle says which earlier rule decides for everything at p.
func (b *builder) idle(p string) string {
	for _, earlier := range b.space.Rules {
		if earlier.Idle == "" && policy.Contains(earlier.Path, p) {
			return "the rule for " + show(earlier.Path) + " comes first"
		}
	}
	return ""
}

func (b *builder) workspaceMount(r workspaceRule, at policy.Resolution) {
	name := "workspace"
	if !r.root {
		name = b.freeName(path.Base(at.Path))
	}
	b.addLinks(at.Links)
	b.mounts = append(b.mounts, policy.Mount{
		Name: name, Root: at.Path, Written: r.written, Mode: r.mode, Type: at.Type, WriteApproval: true, Rule: r.origin.rule(),
	})
}

// workspaceRules puts the rules in order: the root, the file's, the session's.
func (b *builder) workspaceRules(src *Source, w *Workspace) []workspaceRule {
	root := workspaceRule{written: defaultWorkspace, root: true}
	if data, ok := b.host.lookup("XDG_DATA_HOME"); ok && path.IsAbs(data) {
		root.written = path.Join(data, "sbx/workspace")
	}
	root.origin = origin{text: "workspace " + root.written}
	var file []workspaceRule
	if w != nil {
		text := func(p string, m policy.Mode) string { return "workspace " + show(p) + " (" + m.String() + ")" }
		root.mode = w.Mode.V
		root.origin = origin{file: src.Name, at: w.Pos, text: text(root.written, root.mode), dir: src.dir}
		if w.Root.Given() {
			root.written, root.origin.at = w.Root.V, w.Root.Pos
			root.origin.text = text(w.Root.V, root.mode)
		}
		for _, r := range w.Allow {
			file = append(file, workspaceRule{
				written: r.Path.V, mode: r.Mode.V,
				origin: origin{file: src.Name, at: r.Path.Pos, text: text(r.Path.V, r.Mode.V), dir: src.dir},
			})
		}
	}
	if p, ok := b.host.lookup("SBX_WORKSPACE"); ok && p != "" && b.host.Session == nil {
		root = workspaceRule{written: p, mode: policy.ReadAndWrite, origin: origin{text: "SBX_WORKSPACE", dir: b.host.Places.Cwd}, root: true}
	}
	rules := append([]workspaceRule{root}, file...)
	if b.host.Session != nil {
		return b.host.Session.apply(rules)
	}
	return rules
}

// apply changes the rules of the file for one session.
func (o Overrides) apply(rules []workspaceRule) []workspaceRule {
	from := origin{text: "session " + o.ID}
	if o.Root != "" {
		rules[0] = workspaceRule{written: o.Root, mode: policy.ReadAndWrite, origin: from, root: true}
	}
	if o.Mode != "" {
		rules[0].mode, rules[0].origin = modeOf(o.Mode), origin{text: from.text + ": " + o.Mode, dir: rules[0].origin.dir}
	}
	for _, a := range o.Allow {
		rules = append(rules, workspaceRule{written: a.Path, mode: modeOf(a.Mode), origin: origin{text: from.text + ": allow " + show(a.Path) + " " + a.Mode}})
	}
	return rules
}

func modeOf(s string) policy.Mode {
	if s == policy.ReadAndWrite.String() {
		return policy.ReadAndWrite
	}
	return policy.ReadOnly
}

// workspacePlace resolves a rule. The root is made where it is missing; a
// rule whose path is missing, or cannot be looked at, matches nothing.
func (b *builder) workspacePlace(r workspaceRule) (policy.Resolution, bool) {
	if r.root {
		return b.workspaceRoot(r)
	}
	faults, causes := b.faults, b.causes
	at, ok := b.resolve(r.origin, r.written, true)
	if !ok && at.Type != policy.TypeMissing {
		return at, false // the fault says why
	}
	b.faults, b.causes = faults, causes
	return at, ok
}

// workspaceRoot makes the root where the run may, and says why where it can
// not. Outside the home only the last directory is made: one above that is
// missing is more likely a disk that is not mounted than one to be made.
func (b *builder) workspaceRoot(r workspaceRule) (policy.Resolution, bool) {
	at, ok := b.resolve(r.origin, r.written, true)
	switch {
	case ok && at.Type != policy.TypeDir:
		b.rootFault(r.origin, nil, "name a directory", "workspace root %s is not a directory", show(r.written))
		return at, false
	case ok || at.Type != policy.TypeMissing:
		return at, ok
	}
	if top := above(at.Path); !policy.Contains(b.host.Places.Home, at.Path) || b.host.Places.Home == "" {
		if up, err := policy.Resolve(top); err != nil || up.Type != policy.TypeDir {
			b.rootFault(r.origin, nil, "mount its disk, or create "+show(top), "workspace root %s: %s does not exist", show(r.written), show(top))
			return at, false
		}
	}
	at.Type = policy.TypeDir
	if !b.host.MakeWorkspace {
		return at, true
	}
	if err := os.MkdirAll(at.Path, 0o755); err != nil {
		b.rootFault(r.origin, err, "create it first, or name another with SBX_WORKSPACE", "workspace root %s cannot be created: %v", show(r.written), cause(err))
		return at, false
	}
	return at, true
}

// unconfine replaces the policy by none at all, if the workspace is disabled.
// What was asked to narrow it can then not be had.
func (b *builder) unconfine(flags Flags, spec policy.Spec) (policy.Sandbox, error) {
	var asked []string
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"--worker", flags.Worker != ""}, {"--deny", len(flags.Deny) > 0}, {"--system", flags.System != ""}, {"--net", len(flags.Net) > 0},
		{"--restrict", flags.Derive.Restrict != ""}, {"--readonly", flags.Derive.Readonly != nil}, {"--inherit", flags.Derive.Inherit},
		{"--allow-read", flags.Derive.AllowRead != nil}, {"--allow-write", flags.Derive.AllowWrite != nil},
	} {
		if f.given {
			asked = append(asked, f.name)
		}
	}
	if len(asked) > 0 {
		return policy.Sandbox{}, &policy.ConfigError{
			Message: fmt.Sprintf("%s: nothing would enforce it, the workspace is disabled (%s)", strings.Join(asked, " "), b.unconfined),
			Fix:     "enable it: workspace: {enabled: true}, or sbx workspace enable in a session",
		}
	}
	return policy.Unconfined(spec, b.unconfined), nil
}

// WorkspaceOf returns the workspace as a run without flags would have it,
// whatever project it is called in.
func WorkspaceOf(host Host) (WorkspaceInForce, error) {
	b := &builder{host: host}
	src, err := userFile(host)
	if err != nil {
		return WorkspaceInForce{}, err
	}
	c, err := b.text(src)
	if err != nil {
		return WorkspaceInForce{}, err
	}
	var w *Workspace
	if c != nil {
		w = c.Workspace
	}
	b.workspace(src, w)
	return *b.space, b.err()
}

// ParseMode reads ro or rw.
func ParseMode(s string) (policy.Mode, error) {
	for _, m := range []policy.Mode{policy.ReadOnly, policy.ReadAndWrite} {
		if s == m.String() {
			return m, nil
		}
	}
	return 0, errors.New("want ro or rw, got " + quote(s))
}
