package seatbelt

import (
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// Second names that every macOS has: three links at the root, and the data
// volume, whose directories appear at the root through firmlinks. The kernel
// compares resolved paths, so a rule for /tmp/x never matches; but which of
// two firmlinked names it reports has changed between releases.
const (
	volumes    = "/System/Volumes"
	dataVolume = "/System/Volumes/Data"
	cryptexes  = "/System/Volumes/Preboot/Cryptexes"
)

var rootLinks = []string{"/tmp", "/var", "/etc"} // each leads to /private/...

// canonical returns the first name of p. The root of the data volume has no
// other name: it is not all of "/".
func canonical(p string) string {
	if rest, ok := strings.CutPrefix(p, dataVolume+"/"); ok {
		p = "/" + rest
	}
	for _, link := range rootLinks {
		if policy.Contains(link, p) {
			return "/private" + p
		}
	}
	return p
}

// otherNames returns the second names of a canonical path.
func otherNames(p string) []string {
	if p == "/" || policy.Contains(volumes, p) {
		return nil
	}
	var names []string
	if short, ok := strings.CutPrefix(p, "/private"); ok && slices.ContainsFunc(rootLinks, func(l string) bool { return policy.Contains(l, short) }) {
		names = append(names, short)
	}
	return append(names, dataVolume+p)
}

// spellings returns p, which lies below the granted path under, with the part
// below it as given, composed and decomposed: APFS keeps the form that a name
// was given and finds it by both.
func spellings(p, under string) []string {
	rest := p[len(under):]
	names := []string{p}
	for _, form := range []string{compose(rest), decompose(rest)} {
		if name := under + form; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
