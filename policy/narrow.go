package policy

import (
	"slices"
	"strconv"
)

// narrowed applies the parts of the request that are no paths.
func (spec Spec) narrowed(r Request) (Spec, error) {
	if r.Network != nil {
		n, err := spec.Network.narrowed(*r.Network)
		if err != nil {
			return Spec{}, err
		}
		spec.Network = n
	}
	if err := checkLimits(spec.Limits, r.Limits); err != nil {
		return Spec{}, err
	}
	spec.Limits = spec.Limits.Meet(r.Limits)
	mounts, err := narrowMounts(spec.Mounts, r)
	if err != nil {
		return Spec{}, err
	}
	spec.Mounts = mounts
	return spec, nil
}

// narrowed returns ask, which must allow nothing that n does not, with n's
// denies.
func (n Network) narrowed(ask Network) (Network, error) {
	e := &PermissionEscalationError{Asked: "network=" + ask.Mode.String(), Boundary: "parent sandbox has no network access", Alternatives: []string{"network=off"}}
	if n.Mode == NetworkList {
		allowed := list(hostTexts(n.Allow))
		e.Boundary = "the hosts of the parent sandbox are " + allowed
		e.Alternatives = append(e.Alternatives, "hosts among "+allowed)
	}
	if ask.Mode > n.Mode {
		return Network{}, e
	}
	if ask.Mode == NetworkList {
		for _, h := range ask.Allow {
			if !n.covers(h) {
				e.Asked = "network host '" + h.String() + "'"
				return Network{}, e
			}
		}
	}
	met := n.Meet(ask)
	met.Rule = ask.Rule
	return met, nil
}

func hostTexts(rules []HostRule) []string {
	texts := make([]string, len(rules))
	for i, h := range rules {
		texts[i] = h.String()
	}
	return texts
}

func checkLimits(parent, ask Limits) error {
	asked := limitFields(ask)
	for i, p := range limitFields(parent) {
		if a := asked[i]; p.value != 0 && a.value > p.value {
			return &PermissionEscalationError{
				Asked:        "limits." + p.name + "=" + p.text(a.value),
				Boundary:     "parent sandbox has " + p.text(p.value),
				Alternatives: []string{"limits." + p.name + " up to " + p.text(p.value)},
			}
		}
	}
	return nil
}

// narrowMounts applies suffixes and sizes to every mount. Each mount keeps
// what it has in common with the request; what no mount has in common is an
// escalation.
func narrowMounts(mounts []Mount, r Request) ([]Mount, error) {
	if r.Suffixes == nil && r.MaxFileBytes == 0 {
		return mounts, nil
	}
	if err := checkSuffixes(mounts, r.Suffixes); err != nil {
		return nil, err
	}
	if err := checkSize(mounts, r.MaxFileBytes); err != nil {
		return nil, err
	}
	narrow := Mount{Suffixes: r.Suffixes, MaxFileBytes: r.MaxFileBytes}
	narrowed := make([]Mount, len(mounts))
	for i, m := range mounts {
		narrowed[i] = m.withRules(narrow)
	}
	return narrowed, nil
}

func checkSuffixes(mounts []Mount, asked []string) error {
	var all []string
	for _, suffix := range asked {
		allowed := len(mounts) == 0
		for _, m := range mounts {
			allowed = allowed || m.AllowsSuffix(suffix)
			all = append(all, m.Suffixes...)
		}
		if !allowed {
			slices.Sort(all)
			roots := list(slices.Compact(all))
			return &PermissionEscalationError{
				Asked:        "suffixes=['" + Printable(suffix) + "']",
				Boundary:     "the suffixes of the parent sandbox are " + roots,
				Alternatives: []string{"suffixes among " + roots},
			}
		}
	}
	return nil
}

func checkSize(mounts []Mount, asked int64) error {
	largest := int64(0)
	for _, m := range mounts {
		if m.AllowsSize(asked) {
			return nil
		}
		largest = max(largest, m.MaxFileBytes)
	}
	if asked == 0 || len(mounts) == 0 {
		return nil
	}
	return &PermissionEscalationError{
		Asked:        "max_file_bytes=" + strconv.FormatInt(asked, 10),
		Boundary:     "parent sandbox has " + strconv.FormatInt(largest, 10),
		Alternatives: []string{"max_file_bytes up to " + strconv.FormatInt(largest, 10)},
	}
}
