package seatbelt

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// sample is one policy of the tests. The oracle asks truth, whose paths are
// canonical; the renderer gets given, which spells some of them otherwise.
type sample struct {
	n            uint64
	truth, given policy.Effective
	run          Run
	entries      []policy.Entry // canonical, before the area drops what changes nothing
}

// names differ even without regard to case. They hold what quoting, comments,
// expressions and normalisation trip over.
var names = []string{
	"src", "a b", `q"uote`, `back\slash`, "caf\u00e9", "e\u0301te", "(paren)", "semi;colon", "plus+star*",
	"dot.[x]{1}", "hash#", "$HOME", "^caret|pipe", "-n", "'single'", "\u65e5\u672c", "\u304b\u3099", "%20", "~", "data",
}

// anchors are where generated entries begin: ordinary places, places inside
// and around the system base, and the root.
var anchors = []string{
	"/Users/u/w", "/Users/u/w", "/Users/u/w", "/Users/u/other", "/private/tmp/job", "/private/var/folders/ab/T/job",
	"/usr/share/x", "/opt/homebrew", "/opt", "/private/etc", "/usr", "/Volumes/disk", "/", "/System", "/private",
}

// generate makes the n-th policy. The same n gives the same policy.
func generate(n uint64) sample {
	rng := rand.New(rand.NewPCG(n, 0x5eed))
	g := generator{rng: rng, seen: map[string]bool{}}
	count := 1 + rng.IntN(6)
	for range count {
		g.add()
	}
	if rng.IntN(3) > 0 {
		g.entries = append(g.entries, policy.Entry{Path: "/dev", Kind: policy.Private, Type: policy.TypeDir})
	}
	given := g.respelled()
	c := sample{n: n, entries: g.entries}
	c.truth.Area, c.given.Area = policy.NewArea(g.entries...), policy.NewArea(given...)
	for i, e := range g.entries {
		if e.Kind == policy.Hidden && rng.IntN(2) == 0 {
			c.deny(e, given[i])
		}
	}
	c.truth.System = []policy.SystemBase{policy.Minimal, policy.Minimal, policy.HostSystem, policy.NoSystem}[rng.IntN(4)]
	c.truth.Network.Mode = []policy.NetworkMode{policy.NetworkOff, policy.NetworkOff, policy.NetworkOn, policy.NetworkList}[rng.IntN(4)]
	c.given.System, c.given.Network = c.truth.System, c.truth.Network
	if c.truth.Network.Mode == policy.NetworkList {
		c.run.ProxyPort = 8000 + rng.IntN(1000)
	}
	if rng.IntN(2) == 0 {
		c.run.Private = []string{"/private/var/folders/zz/T/sbx-7/home", "/private/var/folders/zz/T/sbx-7/tmp"}
	}
	if rng.IntN(4) == 0 {
		c.run.Terminal = "/dev/ttys003"
	}
	if rng.IntN(2) == 0 {
		c.run.Tag = fmt.Sprintf("sbx-%d", n)
	}
	c.truth.Sockets.Own = rng.IntN(2) == 0
	c.given.Sockets = c.truth.Sockets
	return c
}

// deny closes an entry for good, as policy.New does with denies.
func (c *sample) deny(e, given policy.Entry) {
	for _, v := range []struct {
		eff   *policy.Effective
		entry policy.Entry
	}{{&c.truth, e}, {&c.given, given}} {
		d, err := policy.ParseDeny(escapeGlob(v.entry.Path), "/", "/Users/u", policy.Rule{Text: "deny"})
		if err != nil {
			panic(err)
		}
		v.eff.Denies = append(v.eff.Denies, d)
		v.eff.Area = v.eff.Area.Cut(v.entry)
	}
}

type generator struct {
	rng     *rand.Rand
	entries []policy.Entry
	seen    map[string]bool // paths without case and form
}

// add makes one entry: below an earlier one more often than not.
func (g *generator) add() {
	base := anchors[g.rng.IntN(len(anchors))]
	if len(g.entries) > 0 && g.rng.IntN(4) > 0 {
		base = g.entries[g.rng.IntN(len(g.entries))].Path
	}
	p := base
	for range g.rng.IntN(3) {
		p = path.Join(p, names[g.rng.IntN(len(names))])
	}
	key := strings.ToLower(compose(p))
	if g.seen[key] {
		return
	}
	g.seen[key] = true
	e := policy.Entry{Path: p, Rule: policy.Rule{Text: "entry " + p}}
	switch g.rng.IntN(9) {
	case 0, 1, 2:
		e.Access, e.Kind = policy.ReadWrite, policy.Granted
	case 3, 4:
		e.Access, e.Kind = policy.Read, policy.Granted
	case 5:
		e.Access, e.Kind = policy.Read, policy.Protected
	case 6:
		e.Access, e.Kind = policy.Write, policy.Granted
	case 7, 8:
		e.Kind = policy.Hidden
	}
	e.Type = []policy.FileType{policy.TypeDir, policy.TypeDir, policy.TypeDir, policy.TypeFile, policy.TypeMissing, policy.TypeUnknown}[g.rng.IntN(6)]
	if p == "/" {
		e.Type = policy.TypeDir
		if e.Kind != policy.Granted || e.Access == policy.Write {
			e.Access, e.Kind = policy.ReadWrite, policy.Granted
		}
	}
	g.entries = append(g.entries, e)
}

// respelled names entries by a second name now and then: those that stand
// alone, as an area cannot see how two names nest.
func (g *generator) respelled() []policy.Entry {
	given := slices.Clone(g.entries)
	for i, e := range given {
		related := slices.ContainsFunc(g.entries, func(o policy.Entry) bool {
			return o.Path != e.Path && (policy.Contains(o.Path, e.Path) || policy.Contains(e.Path, o.Path) || policy.Contains(o.Path, volumes))
		})
		others := otherNames(e.Path)
		if len(others) > 0 && !related && e.Access != policy.None && g.rng.IntN(3) == 0 {
			given[i].Path = others[g.rng.IntN(len(others))]
		}
	}
	return given
}

// handmade are policies that chance makes too rarely.
func handmade() []sample {
	dev := policy.Entry{Path: "/dev", Kind: policy.Private, Type: policy.TypeDir}
	hidden := func(p string) policy.Entry { return policy.Entry{Path: p, Kind: policy.Hidden, Type: policy.TypeDir} }
	grant := func(p string, a policy.Access) policy.Entry {
		return policy.Entry{Path: p, Access: a, Kind: policy.Granted, Type: policy.TypeDir}
	}
	private := Run{Private: []string{"/private/var/folders/zz/T/sbx-7/home", "/private/var/folders/zz/T/sbx-7/tmp"}}
	build := func(mode policy.NetworkMode, run Run, denied []string, entries ...policy.Entry) sample {
		c := sample{entries: entries, run: run}
		c.truth.Area = policy.NewArea(entries...)
		c.truth.Network.Mode = mode
		c.truth.Sockets.Own = len(run.Private) > 0
		c.given = c.truth
		for _, p := range denied {
			c.entries = append(c.entries, hidden(p))
			c.deny(hidden(p), hidden(p))
		}
		return c
	}
	protected := func(p string, t policy.FileType) policy.Entry {
		return policy.Entry{Path: p, Access: policy.Read, Kind: policy.Protected, Type: t}
	}
	return []sample{
		build(policy.NetworkOff, private, nil, dev, grant("/Users/u/w", policy.ReadWrite),
			protected("/Users/u/w/.git/hooks", policy.TypeDir), protected("/Users/u/w/.husky/hooks", policy.TypeMissing)),
		build(policy.NetworkOn, Run{}, []string{"/private/var/run"}, dev),
		build(policy.NetworkOn, Run{}, []string{"/private/var/run"}, dev, grant("/", policy.Read)),
		build(policy.NetworkOn, Run{}, nil, dev, grant("/", policy.ReadWrite), hidden("/private/tmp/a"), hidden("/Users/u/.ssh")),
		build(policy.NetworkOff, private, []string{"/private/var/folders/zz/T/sbx-7/tmp/s"}, dev),
		build(policy.NetworkOff, private, []string{"/private/var/folders/zz/T"}, dev, grant("/private/var", policy.Read)),
		build(policy.NetworkOff, private, nil, dev, grant("/System", policy.ReadWrite), hidden("/System/Volumes")),
		build(policy.NetworkOff, Run{}, nil, dev, grant("/Users/u/w", policy.ReadWrite), hidden("/Users/u/w/caf\u00e9"), hidden("/Users/u/w/u\u0308ber")),
		build(policy.NetworkOff, Run{}, nil, dev, grant("/Users/u", policy.ReadWrite), grant("/Users/u/drop", policy.Write), grant("/Users/u/drop/rw", policy.ReadWrite)),
	}
}
