package main

import (
	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

// loaded is a policy after everything on the command line.
type loaded struct {
	config.Loaded
	sandbox   policy.Sandbox // narrowed by the derive flags, patterns looked up
	effective policy.Effective
}

// load goes from flags, files and surroundings to the effective policy. All
// verbs that ask about a policy get it here, so they get the same answer.
func (a *app) load(f *policyFlags) (loaded, error) {
	host, err := surroundings()
	if err != nil {
		return loaded{}, err
	}
	if host.Session, err = f.currentSession(); err != nil {
		return loaded{}, err
	}
	host.MakeWorkspace = f.starts
	l, err := config.Load(f.flags(), host)
	if err != nil {
		return loaded{}, err
	}
	for _, w := range l.Warnings {
		a.ui.warn("%s", w.Message)
		a.ui.hint(w.Fix)
	}
	sandbox := l.Sandbox
	if l.Derive.Given() {
		if sandbox, err = sandbox.Derive(request(l.Derive)); err != nil {
			return loaded{}, err
		}
	}
	if sandbox, err = sandbox.Expand(); err != nil {
		return loaded{}, err
	}
	return loaded{Loaded: l, sandbox: sandbox, effective: sandbox.Effective()}, nil
}

// request makes a derivation of the flags. --readonly and --restrict alone
// only narrow, so they keep the rest.
func request(d config.Derive) policy.Request {
	return policy.Request{
		Restrict:   d.Restrict,
		Readonly:   d.Readonly,
		AllowRead:  d.AllowRead,
		AllowWrite: d.AllowWrite,
		Inherit:    d.Inherit || d.AllowRead == nil && d.AllowWrite == nil,
		Rule:       policy.Rule{Text: "derive flags"},
	}
}
