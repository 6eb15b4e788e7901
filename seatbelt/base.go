package seatbelt

import (
	"strconv"

	"github.com/sbx-run/sbx/policy"
)

// header denies by default. The tag is on this rule and on every deny of a
// path; whether default refusals are logged with it is not known.
func header(r *renderer) {
	r.line("(version 1)")
	r.deny([]string{"default"})
}

// floors state the operations that may be allowed unless somebody says
// otherwise, whatever the default. No rule without a filter but these and the
// plain allows of the next sections exists, and none follows a filtered one.
func floors(r *renderer) {
	r.heading("floors")
	for _, op := range []string{
		"file-link", "file-clone", "file-write-setugid", "file-test-existence",
		"process-info*", "process-info-codesignature", "nvram*",
	} {
		r.deny([]string{op})
	}
	// What is mapped was opened for reading before.
	r.allow([]string{"file-map-executable"})
}

// processes lets a command start others, which are in the same sandbox, and
// look at itself and them. Executing is part of reading a file.
func processes(r *renderer) {
	r.heading("processes")
	r.allow([]string{"process-fork"})
	for _, op := range []string{"signal", "process-info*", "process-info-codesignature"} {
		r.allow([]string{op}, "(target self)", "(target same-sandbox)")
	}
}

// kernelState opens sysctl for reading, as every runtime asks for different
// names at its start, without those that show arguments and environments of
// other processes of the user. Java sets a switch that grades processors.
func kernelState(r *renderer) {
	r.heading("sysctl")
	r.allow([]string{"sysctl-read"})
	r.deny([]string{"sysctl-read"},
		`(sysctl-name "kern.procargs")`, `(sysctl-name "kern.procargs2")`, `(sysctl-name-regex "^kern\\.proc\\.")`)
	r.allow([]string{"sysctl-write"}, `(sysctl-name "kern.grade_cputype")`)
}

// startServices are asked by libSystem: users and groups, notifications,
// logging, the names of the temporary directories. trustServices check TLS
// certificates and know the network's settings. Nothing here opens programs,
// keys, the clipboard or the screen.
var (
	startServices = []string{
		"com.apple.system.opendirectoryd.libinfo",
		"com.apple.system.opendirectoryd.membership",
		"com.apple.system.notification_center",
		"com.apple.system.logger",
		"com.apple.logd",
		"com.apple.bsd.dirhelper",
	}
	trustServices = []string{
		"com.apple.trustd",
		"com.apple.trustd.agent",
		"com.apple.SystemConfiguration.configd",
		"com.apple.SystemConfiguration.DNSConfiguration",
	}
)

func services(r *renderer) {
	r.heading("services")
	names := startServices
	if r.effective.Network.Mode != policy.NetworkOff {
		names = concat(startServices, trustServices)
	}
	r.allow([]string{"mach-lookup"}, each(names, func(n string) string { return "(global-name " + quote(n) + ")" })...)
}

// ipc opens semaphores, which Python's multiprocessing needs, and the shared
// memory of notifications and of OpenMP.
func ipc(r *renderer) {
	r.heading("ipc")
	r.allow([]string{"ipc-posix-sem*"})
	r.allow([]string{"ipc-sysv-sem"})
	r.allow([]string{"ipc-posix-shm-read-data"}, `(ipc-posix-name "apple.shm.notification_center")`)
	r.allow([]string{"ipc-posix-shm*"}, `(ipc-posix-name-regex "^/__KMP_REGISTERED_LIB_[0-9]+$")`)
}

// deviceOperations allow no removal: pinDevices denies that by its own name.
var deviceOperations = []string{"file-read*", "file-test-existence", "file-write*", "file-ioctl"}

// devices opens the few that every program uses, and a terminal only where the
// caller has one.
func devices(r *renderer) {
	r.heading("devices")
	if r.run.Terminal != "" {
		r.allow([]string{"pseudo-tty"})
	}
	r.ownDevices()
}

// ownDevices is what the sandbox's own /dev consists of.
func (r *renderer) ownDevices() {
	r.allow(deviceOperations, append(r.writtenDevices(), r.terminals()...)...)
	r.allow([]string{"file-read*", "file-test-existence"}, literals([]string{
		"/dev/zero", "/dev/random", "/dev/urandom", "/dev/autofs_nowait",
		"/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr",
	})...)
}

func (r *renderer) writtenDevices() []string {
	return []string{literal("/dev/null"), literal("/dev/dtracehelper"), regex("^/dev/fd/[0-9]+$")}
}

// terminals are the caller's terminal by name and the pseudo-terminals that
// the command opens itself, which the kernel marks: all terminals of a user
// would let a command type into other windows.
func (r *renderer) terminals() []string {
	if r.run.Terminal == "" {
		return nil
	}
	return []string{
		literal("/dev/tty"), literal("/dev/ptmx"), literal(r.run.Terminal),
		"(require-all " + regex("^/dev/ttys[0-9]+$") + ` (extension "com.apple.sandbox.pty"))`,
	}
}

// network opens nothing, one proxy port, or everything. Filters are by remote
// end: a local filter on outbound would let every destination through. Only
// what the policy closes comes later, so a deny of the resolver's socket holds.
func network(r *renderer) {
	on := r.effective.Network.Mode == policy.NetworkOn
	domains := []string{"(require-all (socket-domain AF_SYSTEM) (socket-protocol 2))"}
	if on || r.effective.Sockets.Any() {
		domains = append(domains, "(socket-domain AF_UNIX)")
	}
	if on || r.run.ProxyPort != 0 {
		domains = append(domains, "(socket-domain AF_INET)", "(socket-domain AF_INET6)")
	}
	r.heading("network")
	r.allow([]string{"system-socket"}, domains...)
	switch {
	case on:
		r.allow([]string{"network-outbound"}, `(remote ip "*:*")`)
		r.allow([]string{"network-inbound"}, `(local ip "*:*")`)
		r.allow([]string{"network-outbound"}, literal("/private/var/run/mDNSResponder"))
	case r.run.ProxyPort != 0:
		r.allow([]string{"network-outbound"}, `(remote ip `+quote("localhost:"+strconv.Itoa(r.run.ProxyPort))+`)`)
	}
}

// checkNetwork refuses hosts that nothing would enforce.
func checkNetwork(e policy.Effective, run Run) error {
	n := e.Network
	if n.Mode != policy.NetworkList || run.ProxyPort != 0 {
		return nil
	}
	needs := "an allow-list of hosts"
	if len(n.Allow) > 0 {
		needs = "network rule " + n.Allow[0].String()
	}
	return &UnsupportedError{Needs: needs, Rule: n.Rule, Fix: "network: true or network: false"}
}
