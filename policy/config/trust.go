package config

import "github.com/sbx-run/sbx/policy"

// checkTrust holds the file that the grants come from to what it may grant.
// That is the worker's where it is of the old style.
func (b *builder) checkTrust(c *Config, src, worker *Source) error {
	if c != nil && worker != nil && b.grantsOwn {
		if src != nil && len(b.lost) > 0 {
			if err := src.checkTrust(&Config{}, b.lost, b.host); err != nil {
				return err
			}
		}
		return worker.checkTrust(c, b.outside, b.host)
	}
	if src == nil {
		return nil
	}
	return src.checkTrust(c, append(b.lost, b.outside...), b.host)
}

// checkTrust holds a discovered file to what such a file may grant: its own
// directory and presets. outside are the roots that lie elsewhere.
func (s *Source) checkTrust(c *Config, outside []Need, host Host) error {
	if !s.Discovered {
		return nil
	}
	needs := append(outside, c.needs()...)
	if s.owner != "" {
		needs = append(needs, Need{What: s.owner})
	}
	if len(needs) == 0 || host.trusted(s.Path, s.SHA256) {
		return nil
	}
	e := &TrustError{File: s.Name, Path: s.Path, SHA256: s.SHA256, Needs: needs}
	if before, ok := host.approved(s.Path); ok {
		e.Changed = true
		var err error
		if e.New, err = s.NewGrants(before, host); err != nil {
			return err
		}
	}
	return e
}

// needs lists the keys that weaken a guarantee or reach beyond files.
func (c *Config) needs() []Need {
	s := c.Sandbox
	if s == nil {
		return nil
	}
	var needs []Need
	add := func(at Pos, asked bool, what string) {
		if at.Given() && asked {
			needs = append(needs, Need{Pos: at, What: what})
		}
	}
	add(s.Network.Pos, s.Network.Mode == policy.NetworkOn, "network: true")
	add(s.Network.Pos, s.Network.Mode == policy.NetworkList, "network: {allow: ...}")
	for _, v := range s.Env.Pass {
		add(v.Pos, true, "env: {pass: "+v.V+"}")
	}
	for _, v := range s.Env.Set {
		add(v.Pos, true, "env: {set: "+v.Name+"}")
	}
	add(s.System.Pos, s.System.V == policy.HostSystem, "system: host")
	add(s.RequireOS.Pos, !s.RequireOS.V, "require_os_sandbox: false")
	add(s.Dynamic.Pos, s.Dynamic.V, "dynamic: true")
	add(s.UnixSockets.Pos, true, "unix_sockets")
	for _, m := range s.Paths {
		add(m.WriteApproval.Pos, !m.WriteApproval.V, "write_approval: false")
	}
	return needs
}
