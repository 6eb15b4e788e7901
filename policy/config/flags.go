package config

import (
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// Flags are the policy flags of a command line, as typed. The zero value is a
// command line without any.
type Flags struct {
	Config  string   // --config FILE
	Worker  string   // --worker NAME|FILE
	RO, RW  []string // --ro PATH, --rw PATH: added to what the file grants
	Deny    []string // --deny PATTERN: added
	System  string   // --system: replaces the file's
	Protect string   // --protect: replaces the file's
	Presets []string // --preset NAME: added
	Net     []string // --net: "on", "off", or hosts; replaces the file's
	Env     []string // --env NAME[=VALUE]: added
	Limits  []string // --limit NAME=VALUE, --timeout as "timeout=VALUE": each replaces the file's
	Derive  Derive
}

// Derive holds the flags that narrow the sandbox at last. Load carries them
// on and checks nothing.
type Derive struct {
	Restrict   string
	Readonly   *bool    // nil: not given
	Inherit    bool     // --inherit
	AllowRead  []string // nil: not given; empty: nothing
	AllowWrite []string // nil: not given; empty: nothing
}

// Given reports whether any flag of it was.
func (d Derive) Given() bool {
	return d.Restrict != "" || d.Readonly != nil || d.Inherit || d.AllowRead != nil || d.AllowWrite != nil
}

// written lists the flags that add to the policy, for reports.
func (f Flags) written() []string {
	var all []string
	for _, l := range []struct {
		name   string
		values []string
	}{{"--worker", one(f.Worker)}, {"--ro", f.RO}, {"--rw", f.RW}, {"--deny", f.Deny}, {"--preset", f.Presets}, {"--net", f.Net}, {"--env", envNames(f.Env)}, {"--limit", f.Limits}} {
		for _, v := range l.values {
			all = append(all, flagText(l.name, v))
		}
	}
	if f.System != "" {
		all = append(all, flagText("--system", f.System))
	}
	if f.Protect != "" {
		all = append(all, flagText("--protect", f.Protect))
	}
	return all
}

// one makes a list of a flag that is given at most once.
func one(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// envNames drops the values: they may be secrets, and reports are kept.
func envNames(env []string) []string {
	names := make([]string, len(env))
	for i, e := range env {
		names[i], _, _ = strings.Cut(e, "=")
	}
	return names
}

// flagText spells a flag for rules and messages, so that it can be pasted.
func flagText(name, value string) string { return name + " " + show(value) }

// networkFlag reads --net. Hosts make an allow-list; "on" and "off" stand
// alone.
func (b *builder) networkFlag(values []string) {
	if len(values) == 0 {
		return
	}
	net := policy.Network{Mode: policy.NetworkList}
	for _, v := range values {
		switch v {
		case "on", "true", "off", "false":
			if len(values) > 1 {
				b.flagFault("give --net once, or with hosts only", "--net %s beside another --net", v)
				return
			}
			net.Mode = policy.NetworkOff
			if v == "on" || v == "true" {
				net.Mode = policy.NetworkOn
			}
			net.Rule = policy.Rule{Text: flagText("--net", v)}
			b.network = net
			return
		}
		rule, err := policy.ParseHostRule(v)
		if err != nil {
			b.flagFault(hostFix(v), "--net %s: %v", show(v), err)
			continue
		}
		net.Allow = append(net.Allow, rule)
	}
	net.Rule = policy.Rule{Text: flagText("--net", values[0])}
	b.network = net
	b.notYet(&NotAvailableError{Key: flagText("--net", values[0]), Fix: "--net lets the command reach every host"})
}

// checkEnvFlag accepts --env NAME, --env 'PREFIX_*' and --env NAME=VALUE.
func (b *builder) checkEnvFlag(s string) {
	name, value, isSet := strings.Cut(s, "=")
	check := checkEnvPattern
	if isSet {
		check = checkEnvName
	}
	switch m := check(name); {
	case m != nil:
		b.flagFault(m.fix, "%s: %s", flagText("--env", name), m.what)
	case strings.IndexByte(value, 0) >= 0:
		b.flagFault("", "%s: the value holds a NUL", flagText("--env", name))
	}
}

// flag applies one --env that checkEnvFlag has accepted.
func (e *environ) flag(s string) {
	if name, value, isSet := strings.Cut(s, "="); isSet {
		e.set(name, value)
		return
	}
	e.pass(s)
}
