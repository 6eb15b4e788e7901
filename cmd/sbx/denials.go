package main

import (
	"strings"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/policy"
)

// denialsOf explains what the kernel has refused in the words of the policy.
// What the policy allows is listed without a rule: something else was in the
// way.
func denialsOf(e policy.Effective, seen []launcher.Denial) []denial {
	rows := make([]denial, len(seen))
	for i, s := range seen {
		rows[i] = denial{Operation: s.Operation, Path: s.Object, Process: s.Process, Count: s.Count}
		switch op := accessOf(s.Operation); {
		case op != policy.None && strings.HasPrefix(s.Object, "/"):
			rows[i].explain(e, op)
		case strings.HasPrefix(s.Operation, "network-") && !strings.HasPrefix(s.Object, "/") && e.Network.Mode == policy.NetworkOff:
			rows[i].Rule, rows[i].AllowWith = e.Network.Rule.String(), "--net"
		}
	}
	return rows
}

// explain adds the rule that decided and what would change it.
func (d *denial) explain(e policy.Effective, op policy.Access) {
	r, decision, err := e.Look(op, d.Path)
	if err != nil || decision.Allowed {
		return
	}
	d.Rule, d.AllowWith = decision.Entry.Rule.String(), e.AllowWith(op, r, decision)
}

// accessOf is the access that an operation of Seatbelt on files asks for.
func accessOf(operation string) policy.Access {
	switch {
	case strings.HasPrefix(operation, "file-write"), operation == "file-link":
		return policy.Write
	case strings.HasPrefix(operation, "file-"), strings.HasPrefix(operation, "process-exec"):
		return policy.Read
	}
	return policy.None
}
