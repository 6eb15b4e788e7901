package seccomp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// verdictRow states an answer in the numbers that a program would pass, without
// the constants of the table.
type verdictRow struct {
	name string
	call Call
	args []uint64
	want string
	in   Config // but for the architecture
}

// always lists the calls whose answer no argument and no config changes.
var always = map[string][]Call{
	"EPERM": {
		sysMount, sysUmount2, sysPivotRoot, sysChroot, sysUnshare, sysSetns,
		sysAddKey, sysKeyctl, sysRequestKey,
		sysBpf, sysPerfEventOpen, sysUserfaultfd, sysFanotifyInit, sysModifyLdt,
		sysOpenByHandleAt, sysNameToHandleAt, sysMbind, sysMovePages, sysMigratePages,
		sysInitModule, sysFinitModule, sysDeleteModule, sysCreateModule, sysQueryModule, sysGetKernelSyms,
		sysKexecLoad, sysKexecFileLoad, sysReboot,
		sysSwapon, sysSwapoff, sysAcct, sysQuotactl, sysQuotactlFd, sysSyslog, sysSethostname, sysSetdomainname,
		sysSettimeofday, sysClockSettime, sysClockAdjtime, sysAdjtimex, sysIopl, sysIoperm, sysVhangup,
		sysNfsservctl, sysLookupDcookie, sysUselib, sysSysctl, sysUstat, sysSysfs,
	},
	"ENOSYS": {
		sysFsopen, sysFsconfig, sysFsmount, sysFspick, sysOpenTree, sysOpenTreeAttr, sysMoveMount, sysMountSetattr,
		sysClone3, sysIoUringSetup, sysIoUringEnter, sysIoUringRegister, sysOpenat2,
	},
}

// unlessDebug and unlessNamespaced are refused by default and open with the field.
var (
	unlessDebug      = []Call{sysPtrace, sysProcessVmReadv, sysProcessVmWritev, sysPidfdGetfd, sysKcmp}
	unlessNamespaced = []Call{
		sysShmget, sysShmat, sysShmctl, sysMsgget, sysMsgsnd, sysMsgrcv, sysMsgctl,
		sysSemget, sysSemop, sysSemtimedop, sysSemctl, sysMqOpen, sysMqUnlink,
	}
)

var (
	off   = Config{}
	proxy = Config{Network: NetworkProxy}
	on    = Config{Network: NetworkOn}
	local = Config{UnixSockets: true}
	own   = Config{Namespaced: true}
)

const high = 1 << 32 // a bit that the kernel does not read

func socketCases() []verdictRow {
	return []verdictRow{
		{"unix, off", sysSocket, []uint64{1, 1}, "EAFNOSUPPORT", off},
		{"inet, off", sysSocket, []uint64{2, 1}, "EAFNOSUPPORT", off},
		{"inet6, off", sysSocket, []uint64{10, 2}, "EAFNOSUPPORT", off},
		{"netlink, off", sysSocket, []uint64{16, 3}, "EAFNOSUPPORT", off},
		{"vsock, off", sysSocket, []uint64{40, 1}, "EAFNOSUPPORT", off},
		{"unspecified, off", sysSocket, []uint64{0, 1}, "EAFNOSUPPORT", off},

		{"unix, granted", sysSocket, []uint64{1, 1}, "allow", local},
		{"unix, granted, high bits", sysSocket, []uint64{high | 1, 1}, "allow", local},
		{"inet beside unix", sysSocket, []uint64{2, 1}, "EAFNOSUPPORT", local},
		{"vsock with unix in the high half", sysSocket, []uint64{high | 40, 1}, "EAFNOSUPPORT", local},

		{"tcp, proxy", sysSocket, []uint64{2, 1, 0}, "allow", proxy},
		{"tcp by number, proxy", sysSocket, []uint64{10, 1 | 0o2000000, 6}, "allow", proxy},
		{"udp, proxy", sysSocket, []uint64{2, 2 | 0o4000, 17}, "allow", proxy},
		{"mptcp, proxy", sysSocket, []uint64{2, 1, 262}, "EPROTONOSUPPORT", proxy},
		{"smc, proxy", sysSocket, []uint64{2, 1, 256}, "EPROTONOSUPPORT", proxy},
		{"sctp, proxy", sysSocket, []uint64{10, 1, 132}, "EPROTONOSUPPORT", proxy},
		{"raw, proxy", sysSocket, []uint64{2, 3, 1}, "EPERM", proxy},
		{"netlink, proxy", sysSocket, []uint64{16, 3, 0}, "EAFNOSUPPORT", proxy},
		{"unix, proxy", sysSocket, []uint64{1, 1}, "EAFNOSUPPORT", proxy},

		{"tcp, on", sysSocket, []uint64{2, 1, 0}, "allow", on},
		{"mptcp, on", sysSocket, []uint64{10, 1, 262}, "allow", on},
		{"icmp datagrams, on", sysSocket, []uint64{2, 2, 1}, "allow", on},
		{"raw, on", sysSocket, []uint64{10, 3 | 0o2000000, 58}, "EPERM", on},
		{"packet by its old name, on", sysSocket, []uint64{2, 10, 768}, "EPERM", on},
		{"packet, on", sysSocket, []uint64{17, 3, 768}, "EAFNOSUPPORT", on},
		{"route netlink, on", sysSocket, []uint64{16, 3 | 0o2000000, 0}, "allow", on},
		{"route netlink, high bits, on", sysSocket, []uint64{16, 3, high}, "allow", on},
		{"kernel events, on", sysSocket, []uint64{16, 2, 15}, "EAFNOSUPPORT", on},
		{"audit, on", sysSocket, []uint64{16, 3, 9}, "EAFNOSUPPORT", on},
		{"unix, on", sysSocket, []uint64{1, 1}, "EAFNOSUPPORT", on},
		{"alg, on", sysSocket, []uint64{38, 5}, "EAFNOSUPPORT", on},
		{"vsock, on", sysSocket, []uint64{40, 1}, "EAFNOSUPPORT", on},
		{"bluetooth, on", sysSocket, []uint64{31, 3}, "EAFNOSUPPORT", on},
		{"xdp, on", sysSocket, []uint64{44, 3}, "EAFNOSUPPORT", on},

		{"stream pair", sysSocketpair, []uint64{1, 1}, "allow", off},
		{"stream pair, flags", sysSocketpair, []uint64{1, 1 | 0o2004000}, "allow", off},
		{"seqpacket pair", sysSocketpair, []uint64{1, 5}, "allow", off},
		{"datagram pair", sysSocketpair, []uint64{1, 2}, "ESOCKTNOSUPPORT", off},
		{"datagram pair by its raw name", sysSocketpair, []uint64{1, 3}, "ESOCKTNOSUPPORT", off},
		{"datagram pair, on", sysSocketpair, []uint64{1, 2}, "ESOCKTNOSUPPORT", on},
		{"datagram pair, granted", sysSocketpair, []uint64{1, 2}, "allow", local},
		{"inet pair", sysSocketpair, []uint64{2, 1}, "EAFNOSUPPORT", on},
		{"tipc pair", sysSocketpair, []uint64{30, 1}, "EAFNOSUPPORT", local},
	}
}

func modeCases() []verdictRow {
	rows := []verdictRow{
		{"open to read, chance in the mode", sysOpen, []uint64{0, 0, 0o4755}, "allow", off},
		{"open to create", sysOpen, []uint64{0, 0o101, 0o755}, "allow", off},
		{"open to create setuid", sysOpen, []uint64{0, 0o101, 0o4755}, "EPERM", off},
		{"open to create setgid", sysOpen, []uint64{0, 0o101 | high, 0o2755 | high}, "EPERM", off},
		{"openat to read, chance in the mode", sysOpenat, []uint64{0, 0, 0o2000000, 0xffffffff}, "allow", off},
		{"openat to create", sysOpenat, []uint64{0, 0, 0o101, 0o777}, "allow", off},
		{"openat to create, sticky", sysOpenat, []uint64{0, 0, 0o101, 0o1777}, "allow", off},
		{"openat to create setuid", sysOpenat, []uint64{0, 0, 0o101, 0o4755}, "EPERM", off},
		{"openat unnamed setuid", sysOpenat, []uint64{0, 0, 0o20200002, 0o4755}, "EPERM", off},
		{"openat unnamed setuid, directory flag of amd64 missing", sysOpenat, []uint64{0, 0, 0o20000002, 0o4755}, "EPERM", off},
		{"mknod file", sysMknod, []uint64{0, 0o100644}, "allow", off},
		{"mknod fifo", sysMknod, []uint64{0, 0o010644}, "allow", off},
		{"mknod socket", sysMknod, []uint64{0, 0o140644}, "allow", off},
		{"mknod setuid file", sysMknod, []uint64{0, 0o104755}, "EPERM", off},
		{"mknod disk", sysMknod, []uint64{0, 0o060644, 0xfe00}, "EPERM", off},
		{"mknod character device", sysMknod, []uint64{0, 0o020644, 0x101}, "EPERM", off},
		{"mknodat fifo", sysMknodat, []uint64{0, 0, 0o010644}, "allow", off},
		{"mknodat setgid file", sysMknodat, []uint64{0, 0, 0o102755}, "EPERM", off},
		{"mknodat disk", sysMknodat, []uint64{0, 0, 0o060644}, "EPERM", off},
		{"mknodat character device", sysMknodat, []uint64{0, 0, high | 0o020644}, "EPERM", off},
	}
	for call, arg := range map[Call]int{sysChmod: 1, sysFchmod: 1, sysCreat: 1, sysFchmodat: 2, sysFchmodat2: 2} {
		for mode, want := range map[uint64]string{
			0o755: "allow", 0o1777: "allow", 0o4755: "EPERM", 0o2755: "EPERM", 0o6000: "EPERM", high | 0o4000: "EPERM",
		} {
			args := make([]uint64, 4)
			args[arg] = mode
			rows = append(rows, verdictRow{fmt.Sprintf("%v %#o", call, mode), call, args, want, off})
		}
	}
	return rows
}

func processCases() []verdictRow {
	rows := []verdictRow{
		{"fork", sysClone, []uint64{17}, "allow", off},
		{"thread", sysClone, []uint64{0x3d0f00}, "allow", off},
		{"vfork", sysClone, []uint64{0x4111}, "allow", off},
		{"new user namespace", sysClone, []uint64{0x10000011}, "EPERM", off},
		{"new mount namespace", sysClone, []uint64{0x00020011}, "EPERM", off},
		{"new network namespace", sysClone, []uint64{0x40000011}, "EPERM", off},
		{"new pid namespace", sysClone, []uint64{0x20000011}, "EPERM", off},
		{"new ipc namespace", sysClone, []uint64{0x08000011}, "EPERM", off},
		{"new uts namespace", sysClone, []uint64{0x04000011}, "EPERM", off},
		{"new cgroup namespace", sysClone, []uint64{0x02000011}, "EPERM", off},
		{"new user namespace, high bits", sysClone, []uint64{high | 0x10000011}, "EPERM", off},

		{"type into the terminal", sysIoctl, []uint64{0, 0x5412}, "EPERM", off},
		{"type into the terminal, high bits", sysIoctl, []uint64{0, high | 0x5412}, "EPERM", off},
		{"paste into the console", sysIoctl, []uint64{0, 0x541c}, "EPERM", off},
		{"read terminal modes", sysIoctl, []uint64{0, 0x5401}, "allow", off},
		{"window size", sysIoctl, []uint64{0, 0x5413}, "allow", off},

		{"executable data", sysPersonality, []uint64{0x0400000}, "EPERM", off},
		{"executable data, high bits", sysPersonality, []uint64{high | 0x0400000}, "EPERM", off},
		{"old memory layout", sysPersonality, []uint64{0x0200000}, "EPERM", off},

		{"own limits", sysPrlimit64, []uint64{0, 7}, "allow", off},
		{"limits of another", sysPrlimit64, []uint64{1, 7}, "EPERM", off},
		{"limits of another, own namespace", sysPrlimit64, []uint64{1, 7}, "allow", own},
		{"own priority", sysSetpriority, []uint64{0, 0, 5}, "allow", off},
		{"priority of another", sysSetpriority, []uint64{0, 1, 5}, "EPERM", off},
		{"priority of a group", sysSetpriority, []uint64{1, 0, 5}, "EPERM", off},
		{"priority of a user", sysSetpriority, []uint64{2, 0, 5}, "EPERM", off},
		{"priority of a user, own namespace", sysSetpriority, []uint64{2, 0, 5}, "allow", own},
		{"own I/O priority", sysIoprioSet, []uint64{1, 0}, "allow", off},
		{"I/O priority of another", sysIoprioSet, []uint64{1, 1}, "EPERM", off},
		{"I/O priority of a user", sysIoprioSet, []uint64{3, 0}, "EPERM", off},
		{"I/O priority of another, own namespace", sysIoprioSet, []uint64{1, 1}, "allow", own},
	}
	for _, value := range []uint64{0, 8, 0x20000, 0x20008, 0x40000, 0xffffffff} {
		rows = append(rows, verdictRow{fmt.Sprintf("personality %#x", value), sysPersonality, []uint64{value}, "allow", off})
	}
	return rows
}

func verdictRows() []verdictRow {
	rows := append(socketCases(), append(modeCases(), processCases()...)...)
	for want, calls := range always {
		for _, call := range calls {
			for _, c := range []Config{off, on, {Network: NetworkOn, UnixSockets: true, Debug: true, Namespaced: true}} {
				rows = append(rows,
					verdictRow{"zeros", call, nil, want, c},
					verdictRow{"ones", call, []uint64{1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1}, want, c})
			}
		}
	}
	for _, call := range unlessDebug {
		rows = append(rows,
			verdictRow{"default", call, nil, "EPERM", off},
			verdictRow{"debug", call, nil, "allow", Config{Debug: true}})
	}
	for _, call := range unlessNamespaced {
		rows = append(rows,
			verdictRow{"default", call, nil, "EPERM", off},
			verdictRow{"own namespace", call, nil, "allow", own})
	}
	return rows
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	for _, arch := range []Arch{AMD64, ARM64} {
		t.Run(arch.String(), func(t *testing.T) {
			audit, _ := arch.audit()
			decided := map[string]bool{}
			for _, row := range verdictRows() {
				nr, ok := row.call.Number(arch)
				if !ok {
					continue
				}
				c := row.in
				c.Arch = arch
				d := data{number: nr, arch: audit}
				copy(d.args[:], row.args)
				got := simulate(t, compiled(t, c)).answer(d)
				assert.Equal(t, row.want, got.String(), "%v: %s %v", row.call, row.name, row.args)

				rules := Rules(c)
				if _, i := decide(rules, arch, d); i >= 0 {
					decided[rules[i].String()] = true
				}
			}
			assertEveryRowDecided(t, arch, decided)
		})
	}
}

// A row of the table that decides none of the cases above is not tested.
func assertEveryRowDecided(t *testing.T, arch Arch, decided map[string]bool) {
	t.Helper()
	for _, in := range []Config{off, proxy, on, local} {
		in.Arch = arch
		for _, r := range Rules(in) {
			exists := false
			for _, call := range r.Calls {
				_, ok := call.Number(arch)
				exists = exists || ok
			}
			if exists {
				assert.True(t, decided[r.String()], "no case is decided by: %v", r)
			}
		}
	}
}

// What nested sandboxes and ordinary programs need stays open, by number so that
// the table cannot be wrong about itself.
func TestOpenCalls(t *testing.T) {
	t.Parallel()
	published := map[Arch]map[string]int{AMD64: publishedNumbers(t, AMD64), ARM64: publishedNumbers(t, ARM64)}
	for name, nr := range map[string]struct{ amd64, arm64 uint32 }{
		"seccomp":                 {317, 277},
		"landlock_create_ruleset": {444, 444},
		"landlock_add_rule":       {445, 445},
		"landlock_restrict_self":  {446, 446},
		"prctl":                   {157, 167},
		"memfd_secret":            {447, 447},
		"mseal":                   {462, 462},
		"get_mempolicy":           {239, 236},
		"set_mempolicy":           {238, 237},
		"pidfd_open":              {434, 434},
		"pidfd_send_signal":       {424, 424},
		"execve":                  {59, 221},
		"mkdirat":                 {258, 34},
		"mmap":                    {9, 222},
		"inotify_init1":           {294, 26},
		"statx":                   {332, 291},
		"rseq":                    {334, 293},
		"close_range":             {436, 436},
		"faccessat2":              {439, 439},
		"futex_waitv":             {449, 449},
	} {
		for arch, n := range map[Arch]uint32{AMD64: nr.amd64, ARM64: nr.arm64} {
			assert.Equal(t, int(n), published[arch][name], "%s on %v", name, arch)
			audit, _ := arch.audit()
			d := data{number: n, arch: audit, args: [6]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}}
			assert.Equal(t, Allow, simulate(t, compiled(t, Config{Arch: arch})).answer(d), "%s on %v", name, arch)
		}
	}
}
