package config

import (
	"slices"
	"strconv"
	"time"

	"github.com/sbx-run/sbx/policy"
)

// NewGrants lists what the content of a policy file grants now that the
// content before did not, one clause each: "write ~/data", "network on". It
// compares the effective sets of both, not their texts. before is nil for a
// file that the user sees for the first time.
func (s Source) NewGrants(before []byte, host Host) ([]string, error) {
	now, err := s.granted(s.data, host)
	if err != nil {
		return nil, err
	}
	then := granted{}
	if before != nil {
		if then, err = s.granted(before, host); err != nil {
			then = granted{} // what cannot be read any more granted nothing
		}
	}
	return append(newAccess(now.effective, then.effective), newOthers(now, then)...), nil
}

// Inspect reads a file that the user is about to trust. needs is what it asks
// for beyond its own directory.
func Inspect(file string, host Host) (s Source, needs []Need, err error) {
	src, err := named(file, host)
	if err != nil {
		return Source{}, nil, err
	}
	b := &builder{host: host, requireOS: true}
	c, err := b.grantText(src)
	if err != nil {
		return Source{}, nil, err
	}
	b.file(src, c)
	if err := b.err(); err != nil {
		return Source{}, nil, err
	}
	return *src, append(b.outside, c.needs()...), nil
}

// Content returns the bytes that were read, checked and hashed.
func (s Source) Content() []byte { return s.data }

// granted is one content of a file, resolved.
type granted struct {
	effective policy.Effective
	others    []string // grants beside files
	denies    []string
}

// granted resolves content as if it were the file's.
func (s Source) granted(content []byte, host Host) (granted, error) {
	s.data = content
	b := &builder{host: host, requireOS: true}
	c, err := b.grantText(&s)
	if err != nil {
		return granted{}, err
	}
	b.file(&s, c)
	if err := b.err(); err != nil {
		return granted{}, err
	}
	loaded, err := b.build(Flags{}, &s, nil, c)
	if err != nil {
		return granted{}, err
	}
	e := loaded.Sandbox.Effective()
	g := granted{effective: e, others: others(c, e)}
	for _, d := range e.Denies {
		g.denies = append(g.denies, d.Written)
	}
	return g, nil
}

// grantText decodes a program's file, or the old-style sandbox of a worker's.
func (b *builder) grantText(s *Source) (*Config, error) {
	if s.Kind != WorkerDefinition {
		c, faults := Decode(s.data, s.Kind)
		if len(faults) > 0 {
			return nil, &FaultsError{Faults: inFile(s.Name, faults)}
		}
		return c, nil
	}
	w, faults := DecodeWorker(s.data)
	if len(faults) > 0 {
		return nil, &FaultsError{Faults: inFile(s.Name, faults)}
	}
	return &Config{Kind: Program, Sandbox: w.Old}, nil
}

// others names what a file grants beside access to files. Values stand with
// the names: they are what the user agrees with.
func others(c *Config, e policy.Effective) []string {
	var all []string
	switch e.Network.Mode {
	case policy.NetworkOn:
		all = append(all, "network on")
	case policy.NetworkList:
		for _, h := range e.Network.Allow {
			all = append(all, "network "+h.String())
		}
	}
	for _, name := range e.Env.Pass {
		all = append(all, "pass the variable "+name)
	}
	for _, v := range e.Env.Set {
		all = append(all, "set "+v.Name+"="+show(v.Value))
	}
	if e.System == policy.HostSystem {
		all = append(all, "system: host")
	}
	if s := c.Sandbox; s != nil {
		for _, n := range c.needs() {
			switch n.Pos {
			case s.RequireOS.Pos, s.Dynamic.Pos, s.UnixSockets.Pos:
				all = append(all, n.What)
			}
		}
		for _, m := range s.Paths {
			if m.WriteApproval.Given() && !m.WriteApproval.V {
				all = append(all, "write without approval: "+m.Name)
			}
		}
	}
	return all
}

// newAccess lists the places at which now has access that then has not.
func newAccess(now, then policy.Effective) []string {
	var lines []string
	var told policy.Area // what the lines before have said
	for _, p := range listedIn(now.Area, then.Area) {
		added, e := policy.None, now.Area.At(p)
		if e.Kind == policy.Protected {
			continue // less than what lies around it
		}
		if e.Kind == policy.Granted {
			added = policy.Access(uint8(e.Access) &^ uint8(then.Area.At(p).Access))
		}
		if added == told.At(p).Access {
			continue
		}
		told = told.Overlay(policy.Entry{Path: p, Access: added, Kind: policy.Granted})
		if added != policy.None {
			lines = append(lines, added.String()+" "+show(p))
		}
	}
	return lines
}

// listedIn returns the paths of the entries of both areas, parents first.
func listedIn(a, b policy.Area) []string {
	var paths []string
	for _, e := range slices.Concat(a.Entries(), b.Entries()) {
		paths = append(paths, e.Path)
	}
	slices.SortFunc(paths, policy.ComparePaths)
	return slices.Compact(paths)
}

// newOthers lists the other grants that are new, and the bounds that are gone.
func newOthers(now, then granted) []string {
	var lines []string
	for _, g := range now.others {
		if !slices.Contains(then.others, g) {
			lines = append(lines, g)
		}
	}
	for _, d := range then.denies {
		if !slices.Contains(now.denies, d) {
			lines = append(lines, "no longer denied: "+show(d))
		}
	}
	return append(lines, looserLimits(then.effective.Limits, now.effective.Limits)...)
}

// looserLimits lists the limits that are higher than before, or gone.
func looserLimits(before, after policy.Limits) []string {
	var lines []string
	for _, l := range comparedLimits(before, after) {
		switch {
		case l.before == 0 || l.after != 0 && l.after <= l.before:
		case l.after == 0:
			lines = append(lines, "no limit of "+l.name+" any more, was "+l.text(l.before))
		default:
			lines = append(lines, "limit "+l.name+" up from "+l.text(l.before)+" to "+l.text(l.after))
		}
	}
	return lines
}

// cutLimits lists the limits of asked that met lowers.
func cutLimits(asked, met policy.Limits) []string {
	var lines []string
	for _, l := range comparedLimits(asked, met) {
		if l.before > l.after {
			lines = append(lines, l.name+" is "+l.text(l.after)+", not "+l.text(l.before))
		}
	}
	return lines
}

// comparedLimit is one limit in two states; 0 is none.
type comparedLimit struct {
	name          string
	before, after int64
	text          func(int64) string
}

func comparedLimits(before, after policy.Limits) []comparedLimit {
	return []comparedLimit{
		{"timeout", int64(before.Timeout), int64(after.Timeout), asDuration},
		{"cpu", int64(before.CPU), int64(after.CPU), asDuration},
		{"memory", before.Memory, after.Memory, asNumber},
		{"processes", before.Processes, after.Processes, asNumber},
		{"open_files", before.OpenFiles, after.OpenFiles, asNumber},
		{"file_size", before.FileSize, after.FileSize, asNumber},
		{"output", before.Output, after.Output, asNumber},
		{"tmp", before.Tmp, after.Tmp, asNumber},
	}
}

func asDuration(n int64) string { return time.Duration(n).String() }
func asNumber(n int64) string   { return strconv.FormatInt(n, 10) }
