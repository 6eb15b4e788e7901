package config

import (
	"path"
	"slices"

	"github.com/sbx-run/sbx/policy"
)

// environ collects what presets, file and flags say of the environment. What
// is said last about a name counts.
type environ struct{ env policy.Environment }

// pass lets the caller's variables through that match; a value set before
// would hide them.
func (e *environ) pass(pattern string) {
	e.env.Set = slices.DeleteFunc(e.env.Set, func(v policy.Variable) bool {
		ok, err := path.Match(pattern, v.Name)
		return ok && err == nil
	})
	if !slices.Contains(e.env.Pass, pattern) {
		e.env.Pass = append(e.env.Pass, pattern)
	}
}

// set gives a variable a value of its own. A pattern that would also pass the
// caller's value stays: the launcher lets values win over it.
func (e *environ) set(name, value string) {
	e.env.Pass = slices.DeleteFunc(e.env.Pass, func(p string) bool { return p == name })
	e.env.Set = slices.DeleteFunc(e.env.Set, func(v policy.Variable) bool { return v.Name == name })
	e.env.Set = append(e.env.Set, policy.Variable{Name: name, Value: value})
}
