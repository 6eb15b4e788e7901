package policy

import (
	"fmt"
	"slices"
)

// SystemBase is how much of the host's system a command sees before any
// grant.
type SystemBase uint8

// The system bases. Minimal, the default: programs, libraries and the few
// files of /etc that they need. Host: all of /etc and of the places where
// software is installed. NoSystem: nothing at all.
const (
	Minimal SystemBase = iota
	HostSystem
	NoSystem
)

// String gives the spelling of the configuration.
func (s SystemBase) String() string { return [...]string{"minimal", "host", "none"}[s] }

// ParseSystemBase reads minimal, host or none.
func ParseSystemBase(s string) (SystemBase, error) {
	for _, b := range []SystemBase{Minimal, HostSystem, NoSystem} {
		if s == b.String() {
			return b, nil
		}
	}
	return 0, fmt.Errorf("system: want minimal, host or none, got %q", s)
}

// programDirs hold programs and libraries on every distribution; where /usr
// is merged the short ones are links.
var programDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// minimalEtc is what programs read of /etc to start, name users, verify TLS
// peers and show local time. Nothing here identifies the machine (no
// machine-id, no hostname) or holds a secret.
var minimalEtc = []string{
	"/etc/alternatives",
	"/etc/ca-certificates/extracted",
	"/etc/crypto-policies",
	"/etc/group",
	"/etc/host.conf",
	"/etc/hosts",
	"/etc/ld.so.cache",
	"/etc/locale.conf",
	"/etc/localtime",
	"/etc/nsswitch.conf",
	"/etc/os-release",
	"/etc/passwd",
	"/etc/pki/ca-trust/extracted",
	"/etc/pki/tls/certs",
	"/etc/protocols",
	"/etc/services",
	"/etc/ssl/cert.pem",
	"/etc/ssl/certs",
	"/etc/ssl/openssl.cnf",
	"/etc/timezone",
}

// networkEtc is needed only where names are to be looked up.
var networkEtc = []string{"/etc/resolv.conf"}

// hostDirs widen the base to what is installed outside /usr.
var hostDirs = []string{"/etc", "/gnu", "/nix", "/opt", "/snap"}

// privatePlaces belong to the sandbox: /dev and /proc are made new, the
// others are empty, writable and thrown away.
var privatePlaces = []string{"/dev", "/proc", "/tmp", "/var/tmp"}

// systemPaths returns the candidates of a base, absent ones included.
func systemPaths(s SystemBase, net NetworkMode) []string {
	var paths []string
	switch s {
	case Minimal:
		paths = append(append(paths, programDirs...), minimalEtc...)
		if net != NetworkOff {
			paths = append(paths, networkEtc...)
		}
	case HostSystem:
		paths = append(append(paths, programDirs...), hostDirs...)
	}
	return paths
}

// Places are the directories of the caller that a policy counts from. All
// are canonical host paths.
type Places struct {
	Home string   // the caller's home; empty where there is none
	Cwd  string   // the working directory, as getcwd(2) gives it
	Own  []string // where sbx keeps its own files; no rule shows them

	// Workspace is the root of the user's workspace where that is the policy;
	// empty elsewhere. It changes the words of refusals, nothing else.
	Workspace string
}

// Base is the system base as found on this host, with the private places.
type Base struct {
	System  SystemBase
	Entries []Entry
	Links   []Link // links that the base consists of: /bin -> usr/bin
}

// ResolveBase looks up what exists here of the base s. Paths that are absent
// are left out; a link is shown as a link where it leads into the base.
func ResolveBase(s SystemBase, net NetworkMode, places Places) (Base, error) {
	b := Base{System: s}
	rule := Rule{Text: "system: " + s.String()}
	var lookup Lookup
	for _, p := range systemPaths(s, net) {
		r, err := lookup.Resolve(p)
		if err != nil {
			return b, err
		}
		if r.Type == TypeMissing || r.Type == TypeUnknown {
			continue
		}
		if len(r.Links) > 0 && r.Path != p && b.shows(r.Path) {
			b.addLinks(r.Links)
			continue
		}
		// A link that leads elsewhere (resolv.conf into /run) is shown as the
		// file it leads to.
		b.Entries = append(b.Entries, Entry{Path: p, Access: Read, Kind: System, Type: r.Type, Rule: rule})
	}
	if s == HostSystem {
		for _, p := range hostSecrets {
			if e := hiddenEntry(&lookup, p, Rule{Text: "never part of the system base"}); e.Type != TypeMissing {
				b.Entries = append(b.Entries, e)
			}
		}
	}
	for _, p := range privatePlaces {
		b.Entries = append(b.Entries, Entry{Path: p, Kind: Private, Type: TypeDir, Rule: Rule{Text: "private " + p}})
	}
	if places.Home != "" && places.Home != "/" {
		b.Entries = append(b.Entries, Entry{Path: places.Home, Kind: Private, Type: TypeDir, Rule: Rule{Text: "private home"}})
	}
	return b, nil
}

func (b *Base) shows(p string) bool {
	for _, e := range b.Entries {
		if e.Kind == System && Contains(e.Path, p) {
			return true
		}
	}
	return false
}

// addLinks keeps those links that no mount of the base shows by itself.
func (b *Base) addLinks(links []Link) {
	for _, l := range links {
		if !b.shows(l.Path) && !slices.Contains(b.Links, l) {
			b.Links = append(b.Links, l)
		}
	}
}
