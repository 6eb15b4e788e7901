package main

import (
	"os"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

// loaded is a policy after everything on the command line.
type loaded struct {
	config.Loaded
	sandbox   policy.Sandbox // narrowed by the derive flags, patterns looked up
	effective policy.Effective
	outer     *policy.Sandbox // what confines this process already; nil for nothing
}

// load goes from flags, files and surroundings to the effective policy. All
// verbs that ask about a policy get it here, so they get the same answer.
func (a *app) load(f *policyFlags) (loaded, error) {
	l, err := f.resolve()
	if err == nil && f.starts {
		var made bool
		if made, err = makeOwn(l.effective); err == nil && made {
			l, err = f.resolve()
		}
	}
	for _, w := range l.Warnings {
		a.ui.warn("%s", w.Message)
		a.ui.hint(w.Fix)
	}
	if err != nil {
		return loaded{}, err
	}
	return l, nil
}

// resolve finds the policy. What it has found so far comes with an error, for
// the warnings.
func (f *policyFlags) resolve() (l loaded, err error) {
	host, err := surroundings()
	if err != nil {
		return l, err
	}
	if host.Session, err = f.currentSession(); err != nil {
		return l, err
	}
	host.MakeWorkspace = f.starts
	l.outer = outerSandbox()
	if l.outer != nil {
		l.Loaded, err = config.Call(*l.outer, f.flags(), host)
	} else {
		l.Loaded, err = config.Load(f.flags(), host)
	}
	if err != nil {
		return l, err
	}
	l.sandbox = l.Sandbox
	if l.Derive.Given() {
		if l.sandbox, err = l.sandbox.Derive(request(l.Derive)); err != nil {
			return l, err
		}
	}
	if l.sandbox, err = attached(l.sandbox, l.caller(), l.Attachments, f.attach); err != nil {
		return l, err
	}
	if !l.unconfined() {
		if l.sandbox, err = l.sandbox.Expand(); err != nil {
			return l, err
		}
	}
	l.effective = l.sandbox.Effective()
	return l, nil
}

// caller is who hands files on: what confines this process, or else the
// program before a worker or flags narrowed it.
func (l loaded) caller() policy.Sandbox {
	if l.outer != nil {
		return *l.outer
	}
	return l.Program
}

// outerSandbox is nil where nothing is known to confine this process.
func outerSandbox() *policy.Sandbox {
	d, ok := outerDescription()
	if !ok {
		return nil
	}
	outer := policy.Confine(d)
	return &outer
}

// makeOwn makes the directories of sbx's own that lie in a writable place and
// are missing: only what is there can be hidden, and a command that made them
// first would choose what the user trusts.
func makeOwn(e policy.Effective) (made bool, err error) {
	if len(e.Writable()) == 0 {
		return false, nil
	}
	for _, dir := range e.Places.Own {
		r, err := policy.Resolve(dir)
		if err != nil || r.Type != policy.TypeMissing || !e.Area.Above(r.Path).Access.Has(policy.Write) {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return made, err
		}
		made = true
	}
	return made, nil
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
