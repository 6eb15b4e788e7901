package seatbelt

import "github.com/sbx-run/sbx/policy"

// The system base is written out rather than imported from the system's own
// profiles: what a run may see then stands in one reviewed place, is the same
// on every release, and can be evaluated on Linux.

// programRoots hold programs, libraries and what both need to start. Places
// that do not exist on a machine cost nothing. Not among them: all of /System,
// below which the data volume has a second name, and the var and etc of
// package managers, which hold data and credentials.
var programRoots = []string{
	"/usr", "/bin", "/sbin",
	"/System/Library", "/System/iOSSupport",
	"/System/Cryptexes", cryptexes, // programs and the shared cache since macOS 13
	"/Library/Apple", "/Library/Frameworks", "/Library/Java/JavaVirtualMachines",
	"/Library/Developer/CommandLineTools",
	"/private/var/db/dyld",     // shared cache before macOS 13
	"/private/var/db/timezone", // target of /etc/localtime
	"/private/var/select",      // which shell /bin/sh is, which Xcode is active
	"/private/etc/ssl",
	"/private/etc/paths.d",
	"/Library/Preferences/Logging",
	"/nix/store",
	"/opt/homebrew/bin", "/opt/homebrew/sbin", "/opt/homebrew/lib", "/opt/homebrew/libexec",
	"/opt/homebrew/include", "/opt/homebrew/share", "/opt/homebrew/opt",
	"/opt/homebrew/Cellar", "/opt/homebrew/Caskroom", "/opt/homebrew/Frameworks",
	"/opt/homebrew/etc/ca-certificates", "/opt/homebrew/etc/openssl@3",
	"/opt/local/bin", "/opt/local/sbin", "/opt/local/lib", "/opt/local/libexec",
	"/opt/local/include", "/opt/local/share", "/opt/local/Library",
}

// programFiles are single files: look-up tables of libc, start-up files that
// the system ships, and what the developer tools' shims read.
var programFiles = []string{
	"/private/etc/passwd", "/private/etc/group", "/private/etc/hosts", "/private/etc/services",
	"/private/etc/protocols", "/private/etc/localtime", "/private/etc/shells", "/private/etc/paths",
	"/private/etc/profile", "/private/etc/bashrc", "/private/etc/zshenv", "/private/etc/zprofile", "/private/etc/zshrc",
	"/private/var/db/xcode_select_link",
	"/Library/Preferences/com.apple.dt.Xcode.plist",
}

// networkFiles are needed only where names are to be looked up.
var networkFiles = []string{"/private/etc/resolv.conf", "/private/var/run/resolv.conf"}

// hostRoots widen the base to what is installed on this machine.
var hostRoots = []string{"/private/etc", "/opt", "/nix", "/Library", "/Applications"}

// hostSecrets lie inside hostRoots. Permissions guard them from ordinary
// users; as root nothing else would.
var hostSecrets = []string{
	"/private/etc/master.passwd", "/private/etc/ssh", "/private/etc/sudoers", "/private/etc/sudoers.d",
	"/private/etc/krb5.keytab", "/private/etc/racoon", "/private/etc/openvpn", "/private/etc/wireguard",
	"/Library/Keychains", "/Library/Application Support/com.apple.TCC",
	"/Library/Preferences/SystemConfiguration",
}

// baseRoots lists every place of the base that e and run ask for.
func baseRoots(e policy.Effective, run Run) []string {
	if e.System == policy.NoSystem {
		return nil
	}
	roots := concat(programRoots, programFiles)
	if e.System == policy.HostSystem {
		roots = append(roots, hostRoots...)
	}
	if e.Network.Mode != policy.NetworkOff {
		roots = append(roots, networkFiles...)
	}
	if run.DeveloperDir != "" {
		roots = append(roots, canonical(run.DeveloperDir))
	}
	return roots
}

// system allows the base. The root directory itself is always readable:
// without it programs abort in dyld on macOS 26.
func system(r *renderer) {
	r.heading("system base")
	r.allow(readOperations, literal("/"))
	if r.effective.System == policy.NoSystem {
		return
	}
	filters := subpaths(programRoots)
	if r.effective.System == policy.HostSystem {
		filters = append(filters, subpaths(hostRoots)...)
	}
	filters = append(filters, literals(programFiles)...)
	if r.effective.Network.Mode != policy.NetworkOff {
		filters = append(filters, literals(networkFiles)...)
	}
	if dir := r.run.DeveloperDir; dir != "" {
		filters = append(filters, subpath(canonical(dir)))
	}
	r.allow(readOperations, filters...)
	if r.effective.System == policy.HostSystem {
		r.deny(everyOperation(), subpaths(hostSecrets)...)
	}
}

func subpaths(paths []string) []string { return each(paths, subpath) }

func literals(paths []string) []string { return each(paths, literal) }

func each(in []string, f func(string) string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = f(s)
	}
	return out
}
