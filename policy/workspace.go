package policy

// Unconfined returns the sandbox that is none: everything of the host is
// readable and writable and the network is on, but for what the host itself
// refuses. rule names who switched the enforcement off. The environment and
// the limits of spec stay.
func Unconfined(spec Spec, rule Rule) Sandbox {
	spec.Form, spec.Mounts, spec.Denies, spec.Links, spec.Guarded = PathForm, nil, nil, nil, nil
	spec.Base, spec.Places.Own = Base{System: spec.Base.System}, nil
	spec.Network = Network{Mode: NetworkOn, Rule: rule}
	spec.RequireOS = false
	all := Entry{Path: "/", Access: ReadWrite, Kind: Granted, Type: TypeDir, Rule: rule}
	return Sandbox{spec: spec, area: NewArea(all)}
}

// inWorkspace words a refusal for a user who works in a workspace: what the
// workspace does not show is outside of it, and what it shows but does not
// let change is read-only. Refusals with a rule of their own keep it.
func (e Effective) inWorkspace(op Access, d Decision) Decision {
	switch {
	case e.Places.Workspace == "" || d.refusal != byAbsence:
	case d.Entry.Kind == Private && Contains(e.Places.Home, d.Entry.Path),
		d.Entry.Kind == Hidden && d.Entry.Rule == (Rule{}):
		d.Reason = "outside workspace"
	case d.Entry.Kind == Private:
		d.Reason = "outside workspace; " + d.Reason
	case d.Entry.Kind == Granted && op.Has(Write) && d.Entry.Access.Has(Read):
		d.Reason = "read-only workspace"
	}
	return d
}
