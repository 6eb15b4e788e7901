package landlock

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/nofollow"
	"github.com/sbx-run/sbx/platform/script"
)

// Stage is the stage in the notes of what Write adds.
const Stage = "landlock"

// Rule types of landlock_add_rule.
const (
	rulePathBeneath = 1
	ruleNetPort     = 2
)

// Write adds to s what puts e in force on the thread that carries s out: a ruleset
// with all rules, no_new_privs, and the restriction. Its notes have what is being
// done as their text. Descriptors in registers do not survive it.
func (e Enforced) Write(s *script.Script) {
	e.writeRuleset(s)
	doing(s, "set no_new_privs")
	s.Call(unix.SYS_PRCTL, script.Number(unix.PR_SET_NO_NEW_PRIVS), script.Number(1))
	doing(s, "restrict the thread")
	s.Call(unix.SYS_LANDLOCK_RESTRICT_SELF, script.In(script.Ruleset), script.Number(0))
	s.Call(unix.SYS_CLOSE, script.In(script.Ruleset))
}

func doing(s *script.Script, op string) { s.For(script.Note{Stage: Stage, Text: op}) }

// writeRuleset adds a ruleset with all rules of e.
func (e Enforced) writeRuleset(s *script.Script) {
	doing(s, "create a ruleset")
	attr := e.attr()
	s.Call(unix.SYS_LANDLOCK_CREATE_RULESET, s.Bytes(attr), script.Number(len(attr)), script.Number(0)).Into(script.Ruleset)
	if e.files != 0 {
		stat := s.Stat()
		for _, g := range e.grants {
			e.writeGrant(s, g, stat)
		}
	}
	doing(s, "allow a port")
	for _, p := range e.ports {
		addRule(s, ruleNetPort, s.Bytes(words(uint64(p.allow), uint64(p.port))))
	}
}

// attr is struct landlock_ruleset_attr as of ABI 6. Older kernels know less of it
// and accept the rest as long as it is zero.
func (e Enforced) attr() []byte {
	return words(uint64(e.files), uint64(e.net), uint64(e.scope))
}

func words(list ...uint64) []byte {
	var b []byte
	for _, w := range list {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// writeGrant adds the rule for one grant. Only what it leads to tells which rights
// the rule may have: the kernel refuses those of directories on a file.
func (e Enforced) writeGrant(s *script.Script, g Grant, stat script.Stat) {
	onDirectory, onFile := e.allowed(g.Access, true), e.allowed(g.Access, false)
	if onDirectory == 0 {
		return // such as Connect before ABI 9: nothing is refused that it would open
	}
	step := func(op string) { s.For(script.Note{Stage: Stage, Path: g.String(), Text: op}) }
	step("open")
	if g.FD != 0 {
		s.Set(script.FD, script.Number(g.FD))
	} else {
		nofollow.Write(s, g.Path)
	}
	step("stat")
	notDirectory, done := s.Label(), s.Label()
	stat.Of(script.FD)
	s.Refuse(stat.Mode(), unix.S_IFMT, unix.S_IFLNK, int(unix.ELOOP))
	step("grant " + g.Access.String() + " on")
	s.Test(stat.Mode(), unix.S_IFMT, unix.S_IFDIR, int(unix.ENOTDIR)).Else(notDirectory)
	addPathRule(s, onDirectory)
	s.Jump(done)
	s.Place(notDirectory)
	if onFile != 0 {
		addPathRule(s, onFile)
	}
	s.Place(done)
	if g.FD == 0 {
		s.Call(unix.SYS_CLOSE, script.In(script.FD))
	}
}

// addPathRule lays struct landlock_path_beneath_attr down, which is packed and ends
// after the descriptor.
func addPathRule(s *script.Script, allowed rights) {
	rule := s.Bytes(words(uint64(allowed), 0))
	s.Store(rule.Plus(8), script.In(script.FD))
	addRule(s, rulePathBeneath, rule)
}

func addRule(s *script.Script, kind int, rule script.Value) {
	s.Call(unix.SYS_LANDLOCK_ADD_RULE, script.In(script.Ruleset), script.Number(kind), rule, script.Number(0))
}
