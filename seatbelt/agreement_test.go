package seatbelt

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt/sbpltest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// generatedPolicies is how many policies the default run compares.
const generatedPolicies = 5000

// TestAgreement: on every generated policy, every decision of the profile is
// the oracle's under every reading, and every lint is clean.
func TestAgreement(t *testing.T) {
	t.Parallel()
	asked := 0
	check := func(c sample, name any) {
		p := compileCase(t, c, standard())
		require.Empty(t, p.Lint(), "policy %v", name)
		found, questions := disagreements(c, p, 1)
		asked += questions
		require.Empty(t, found, "policy %v", name)
	}
	for i, c := range handmade() {
		check(c, fmt.Sprintf("handmade %d", i))
	}
	for n := range uint64(generatedPolicies) {
		check(generate(n), n)
	}
	t.Logf("%d policies, %d questions, %d readings of each: no disagreement", generatedPolicies, asked, len(readings))
}

// readings are the five, and the first with case folded.
var readings = append(sbpltest.Readings(), sbpltest.Semantics{OpSpecific: true, UnfilteredIsFloor: true, TerminalOps: true, FoldCase: true})

func compileCase(t testing.TB, c sample, r recipe) *sbpltest.Profile {
	t.Helper()
	rendered, err := render(c.given, c.run, r)
	require.NoError(t, err)
	return compileProfile(t, rendered)
}

func compileProfile(t testing.TB, rendered Profile) *sbpltest.Profile {
	t.Helper()
	params := map[string]string{}
	for _, p := range rendered.Params {
		params[p.Name] = p.Value
	}
	p, err := sbpltest.Compile(rendered.Text, params)
	require.NoError(t, err, rendered.Text)
	return p
}

// disagreement is one decision that is not the oracle's.
type disagreement struct {
	reading int
	text    string
}

// disagreements asks everything and returns at most limit differences; 0 is no
// limit.
func disagreements(c sample, p *sbpltest.Profile, limit int) (found []disagreement, asked int) {
	o := newOracle(c)
	note := func(q sbpltest.Query, want bool) {
		for _, fold := range []bool{false, true} {
			if fold && c.n%4 != 0 {
				continue
			}
			m := p.Match(q, fold)
			for i, s := range readings {
				if s.FoldCase != fold {
					continue
				}
				if d := m.Decide(s); d.Allowed != want && (limit == 0 || len(found) < limit) {
					found = append(found, disagreement{i, fmt.Sprintf("%s %q under %s: want %t, line %d decides", q.Op, q.Path, s, want, d.Line)})
				}
			}
		}
		asked++
	}
	for _, path := range askedPaths(c) {
		for _, op := range askedOperations {
			note(fileQuery(op, path), o.wants(op, path))
		}
		note(sbpltest.Query{Op: "file-clone", Path: path, VnodeType: "DIRECTORY"}, false)
	}
	for _, q := range o.otherQuestions() {
		note(q.query, q.want)
	}
	return found, asked
}

// question is a query that no policy path is in, with its answer.
type question struct {
	query sbpltest.Query
	want  bool
}

// otherQuestions ask about the network, sockets, processes and services.
func (o oracle) otherQuestions() []question {
	on, port := o.c.truth.Network.Mode == policy.NetworkOn, o.c.run.ProxyPort
	remote := func(addr string) sbpltest.Query {
		return sbpltest.Query{Op: "network-outbound", Socket: sbpltest.Socket{Proto: "tcp", Remote: addrPort(addr)}}
	}
	local := func(op string) sbpltest.Query {
		return sbpltest.Query{Op: op, Socket: sbpltest.Socket{Proto: "tcp", Local: addrPort("127.0.0.1:80")}}
	}
	unix := func(op, p string) sbpltest.Query {
		return sbpltest.Query{Op: op, Path: p, VnodeType: "SOCKET", Socket: sbpltest.Socket{Unix: true}}
	}
	sockets := o.c.truth.Sockets.Own
	const resolver, own = "/private/var/run/mDNSResponder", "/private/var/folders/zz/T/sbx-7/tmp/s"
	questions := []question{
		{remote("93.184.216.34:443"), on},
		{remote("127.0.0.1:22"), on},
		{remote(fmt.Sprintf("127.0.0.1:%d", max(port, 1))), on || port != 0},
		{remote(fmt.Sprintf("[::1]:%d", max(port, 1))), on || port != 0},
		{local("network-bind"), on},
		{local("network-inbound"), on},
		{unix("network-outbound", resolver), on && !o.closes(resolver)},
		{unix("network-outbound", "/private/var/run/docker.sock"), false},
		{unix("network-outbound", own), sockets && o.private(own)},
		{unix("network-bind", own), sockets && o.private(own)},
		{sbpltest.Query{Op: "system-socket", Domain: "AF_INET"}, on || port != 0},
		{sbpltest.Query{Op: "system-socket", Domain: "AF_UNIX"}, on || sockets},
		{sbpltest.Query{Op: "mach-lookup", Name: "com.apple.trustd.agent"}, on || port != 0},
		{sbpltest.Query{Op: "mach-lookup", Name: "com.apple.securityd"}, false},
		{sbpltest.Query{Op: "mach-lookup", Name: "com.apple.logd"}, true},
		{sbpltest.Query{Op: "sysctl-read", Name: "hw.ncpu"}, true},
		{sbpltest.Query{Op: "sysctl-read", Name: "kern.procargs2"}, false},
		{sbpltest.Query{Op: "sysctl-read", Name: "kern.proc.all"}, false},
		{sbpltest.Query{Op: "sysctl-write", Name: "kern.grade_cputype"}, true},
		{sbpltest.Query{Op: "sysctl-write", Name: "kern.hostname"}, false},
		{sbpltest.Query{Op: "process-info-pidinfo", Target: "self"}, true},
		{sbpltest.Query{Op: "process-info-pidinfo", Target: "others"}, false},
		{sbpltest.Query{Op: "process-info-codesignature", Target: "others"}, false},
		{sbpltest.Query{Op: "signal", Target: "same-sandbox"}, true},
		{sbpltest.Query{Op: "signal", Target: "others"}, false},
		{sbpltest.Query{Op: "process-fork"}, true},
		{sbpltest.Query{Op: "nvram*"}, false},
		{sbpltest.Query{Op: "job-creation"}, false},
		{sbpltest.Query{Op: "pseudo-tty"}, o.c.run.Terminal != ""},
		{sbpltest.Query{Op: "file-map-executable", Path: "/usr/lib/x"}, true},
	}
	return questions
}

// closes reports whether a rule of the policy closes p. What is only private
// or outside is not closed by a rule.
func (o oracle) closes(p string) bool {
	at := o.c.truth.Area.At(p)
	return o.denied(p) || o.c.truth.Area.Lists(at.Path) && at.Access == policy.None
}

func TestAgreementIsAboutSomething(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range uint64(300) {
		c := generate(n)
		o := newOracle(c)
		for _, p := range askedPaths(c) {
			for _, op := range askedOperations {
				seen[fmt.Sprintf("%s %t", op, o.wants(op, p))]++
			}
		}
	}
	for _, op := range askedOperations {
		assert.Positive(t, seen[op+" false"], op)
		if op != "file-write-setugid" {
			assert.Positive(t, seen[op+" true"], op)
		}
	}
}

func addrPort(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }
