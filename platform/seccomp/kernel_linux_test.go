package seccomp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Every refusal of the strictest table is provoked for real, as root and as an
// unprivileged user, with and without the filter.
func TestKernelRefuses(t *testing.T) {
	arch := host(t)
	for name, user := range identities() {
		t.Run(name, func(t *testing.T) {
			control := probeResults(t, nil, user)
			filtered := probeResults(t, &Config{Arch: arch}, user)
			unprivileged := user != nil || os.Geteuid() != 0
			for _, p := range probes() {
				before, after := syscall.Errno(control[p.name]), syscall.Errno(filtered[p.name])
				if before == errAbsent {
					continue // arm64 lacks the call
				}
				assert.Equal(t, p.want, after, "%s: %v", p.name, after)
				switch {
				case p.want == 0:
					assert.Zero(t, before, "%s without the filter: %v", p.name, before)
				case before != p.want:
				case unprivileged && p.needs != "":
					t.Logf("%s: the kernel answers alike without %s", p.name, p.needs)
				case p.missing != "":
					t.Logf("%s: this kernel answers alike (%s)", p.name, p.missing)
				default:
					t.Errorf("%s: %v without the filter too, so nothing is shown", p.name, before)
				}
			}
		})
	}
}

// probeResults runs the probes in a child, beside a datagram socket that it may
// write to.
func probeResults(t *testing.T, filter *Config, user *syscall.Credential) map[string]int {
	t.Helper()
	dir := scratch(t)
	socket := filepath.Join(dir, "outside")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, unix.Bind(fd, &unix.SockaddrUnix{Name: socket}))
	require.NoError(t, os.Chmod(socket, 0o777))

	out := output(t, start(t, order{Filter: filter, Probes: true, Socket: socket}, user, dir))
	var results map[string]int
	require.NoError(t, json.Unmarshal([]byte(out), &results))
	return results
}

// What the looser fields open works in the kernel, too.
func TestKernelAllows(t *testing.T) {
	arch := host(t)
	for name, user := range identities() {
		t.Run(name, func(t *testing.T) {
			control := probeResults(t, nil, user)
			relaxed := probeResults(t, &Config{
				Arch: arch, Network: NetworkOn, UnixSockets: true, Debug: true, Namespaced: true,
			}, user)
			open := append(debugProbes(), hostObjectProbes()...)
			open = append(open, openProbes()...)
			for _, p := range append(open, named("socket unix", "socket inet", "socket inet6", "socket netlink",
				"datagram pair to a socket file")...) {
				assert.Equal(t, control[p.name], relaxed[p.name], p.name)
			}
			for _, p := range named("socket kernel events", "socket vsock", "socket alg", "socket packet", "inet pair") {
				assert.Equal(t, unix.EAFNOSUPPORT, syscall.Errno(relaxed[p.name]), p.name)
			}
		})
	}
}

// The rows that exist only with a network, against the same control arm.
func TestKernelNetworkModes(t *testing.T) {
	arch := host(t)
	for name, user := range identities() {
		t.Run(name, func(t *testing.T) {
			control := probeResults(t, nil, user)
			on := probeResults(t, &Config{Arch: arch, Network: NetworkOn}, user)
			proxy := probeResults(t, &Config{Arch: arch, Network: NetworkProxy}, user)
			for _, row := range []struct {
				name      string
				on, proxy syscall.Errno // 0: as without the filter
			}{
				{"tcp", 0, 0},
				{"socket inet6", 0, 0},
				{"socket netlink", 0, unix.EAFNOSUPPORT},
				{"socket unix", unix.EAFNOSUPPORT, unix.EAFNOSUPPORT},
				{"socket kernel events", unix.EAFNOSUPPORT, unix.EAFNOSUPPORT},
				{"mptcp", 0, unix.EPROTONOSUPPORT},
				{"raw inet", unix.EPERM, unix.EPERM},
				{"packet by its old name", unix.EPERM, unix.EPERM},
				{"datagram pair to a socket file", unix.ESOCKTNOSUPPORT, unix.ESOCKTNOSUPPORT},
			} {
				plain := syscall.Errno(control[row.name])
				for arm, pair := range map[string][2]syscall.Errno{
					"on":    {row.on, syscall.Errno(on[row.name])},
					"proxy": {row.proxy, syscall.Errno(proxy[row.name])},
				} {
					want, got := pair[0], pair[1]
					if want == 0 {
						want = plain
					}
					assert.Equal(t, want, got, "%s with network %s: %v", row.name, arm, got)
				}
			}
			if user == nil && os.Geteuid() == 0 {
				assert.Zero(t, control["raw inet"], "root makes raw sockets without the filter")
			}
		})
	}
}

func named(names ...string) []probe {
	var some []probe
	for _, name := range names {
		for _, p := range probes() {
			if p.name == name {
				some = append(some, p)
			}
		}
	}
	if len(some) != len(names) {
		panic(fmt.Sprint("no such probe among ", names))
	}
	return some
}

func TestInstallRefusesWrongPrograms(t *testing.T) {
	var typed InstallError
	require.ErrorAs(t, Install(Program{}), &typed)

	foreign := AMD64
	if host(t) == AMD64 {
		foreign = ARM64
	}
	err := Install(compiled(t, Config{Arch: foreign}))
	require.ErrorAs(t, err, &typed)
	require.ErrorIs(t, err, errors.ErrUnsupported)

	// Neither attempt left anything behind.
	status, err := os.Open("/proc/self/status")
	require.NoError(t, err)
	defer status.Close()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		assert.NotEqual(t, "Seccomp:\t2", lines.Text())
	}
}

// The constants of the table, against the ones that x/sys has for this system.
func TestConstantsAreTheKernels(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]uint64{
		"EPERM":           {eperm, uint64(unix.EPERM)},
		"ENOSYS":          {enosys, uint64(unix.ENOSYS)},
		"EPROTONOSUPPORT": {eprotonosupport, uint64(unix.EPROTONOSUPPORT)},
		"ESOCKTNOSUPPORT": {esocktnosupport, uint64(unix.ESOCKTNOSUPPORT)},
		"EAFNOSUPPORT":    {eafnosupport, uint64(unix.EAFNOSUPPORT)},
		"allow":           {uint64(Allow), unix.SECCOMP_RET_ALLOW},
		"kill":            {uint64(KillProcess), unix.SECCOMP_RET_KILL_PROCESS},
		"errno":           {retErrno, unix.SECCOMP_RET_ERRNO},
		"amd64":           {auditAMD64, unix.AUDIT_ARCH_X86_64},
		"arm64":           {auditARM64, unix.AUDIT_ARCH_AARCH64},
		"TIOCSTI":         {tiocsti, unix.TIOCSTI},
		"namespaces": {newNamespaces, unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
			unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET},
		"setuid, setgid": {setID, unix.S_ISUID | unix.S_ISGID},
		"file type":      {fileType, unix.S_IFMT},
		"character file": {charFile, unix.S_IFCHR},
		"block file":     {blockFile, unix.S_IFBLK},
		"creating":       {creating, unix.O_CREAT | (unix.O_TMPFILE &^ unix.O_DIRECTORY)},
		"AF_UNIX":        {familyUnix, unix.AF_UNIX},
		"AF_INET":        {familyInet, unix.AF_INET},
		"AF_INET6":       {familyInet6, unix.AF_INET6},
		"AF_NETLINK":     {familyNetlink, unix.AF_NETLINK},
		"SOCK_STREAM":    {sockStream, unix.SOCK_STREAM},
		"SOCK_RAW":       {sockRaw, unix.SOCK_RAW},
		"SOCK_SEQPACKET": {sockSeqpacket, unix.SOCK_SEQPACKET},
		"SOCK_PACKET":    {sockPacket, unix.SOCK_PACKET},
		"TCP":            {protocolTCP, unix.IPPROTO_TCP},
		"UDP":            {protocolUDP, unix.IPPROTO_UDP},
		"NETLINK_ROUTE":  {netlinkRoute, unix.NETLINK_ROUTE},
		"PRIO_PROCESS":   {prioProcess, unix.PRIO_PROCESS},
		"sock_filter":    {instructionSize, uint64(unsafe.Sizeof(unix.SockFilter{}))},
	} {
		assert.Equal(t, pair[1], pair[0], name)
	}
}
