package landlock

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/script"
)

func probed(t *testing.T, list string, want *Ruleset, user *syscall.Credential, w world) map[string]int {
	t.Helper()
	out := output(t, start(t, order{Ruleset: want, Probes: list, World: w}, user))
	var results map[string]int
	require.NoError(t, json.Unmarshal([]byte(out), &results))
	return results
}

// Every action is tried for real, as root and as an unprivileged user, in a tree
// that the user owns; without Landlock all of them work.
func TestKernelEnforces(t *testing.T) {
	abi := currentABI(t)
	for _, list := range []string{"files", "gaps", "outside"} {
		for who, user := range identities() {
			t.Run(list+"/"+who, func(t *testing.T) {
				w := newWorld(t, user)
				control := probed(t, list, nil, user, w)
				w = newWorld(t, user)
				want := testRuleset(w)
				_, gaps := planned(t, abi, *want)
				limited := probed(t, list, want, user, w)
				for _, p := range probeLists[list] {
					before, after := syscall.Errno(control[p.name]), syscall.Errno(limited[p.name])
					assert.Zero(t, before, "%s without Landlock: %v", p.name, before)
					expected := p.want
					if p.gap != "" && slices.Contains(gapNames(gaps), p.gap) {
						expected = 0
					}
					assert.Equal(t, expected, after, "%s with ABI %d: %v", p.name, abi, after)
				}
			})
		}
	}
}

func TestKernelAllowsPorts(t *testing.T) {
	for who, user := range identities() {
		t.Run(who, func(t *testing.T) {
			w := newWorld(t, user)
			want := Ruleset{
				TCP: Ports{Limit: true, Connect: []uint16{w.TCP}, Bind: []uint16{0}},
				UDP: Ports{Limit: true, Connect: []uint16{w.UDP}, Bind: []uint16{0}},
			}
			results := probed(t, "outside", &want, user, w)
			for _, name := range []string{"connect by TCP", "bind a TCP port", "connect by UDP", "bind a UDP port"} {
				assert.Zero(t, results[name], name)
			}
			want.TCP.Connect = []uint16{w.TCP ^ 1}
			results = probed(t, "outside", &want, user, w)
			assert.Equal(t, int(unix.EACCES), results["connect by TCP"], "another port")
		})
	}
}

// What is not asked for stays as it was: a ruleset of scopes leaves files alone,
// renaming between directories included, which any ruleset on files would refuse.
func TestKernelLeavesTheRestAlone(t *testing.T) {
	for who, user := range identities() {
		t.Run(who, func(t *testing.T) {
			w := newWorld(t, user)
			for name, errno := range probed(t, "files", &Ruleset{Scope: ScopeSignal}, user, w) {
				assert.Zero(t, errno, "%s: %v", name, syscall.Errno(errno))
			}
			results := probed(t, "outside", &Ruleset{Scope: ScopeSignal}, user, w)
			assert.Equal(t, int(unix.EPERM), results["signal a process outside"])
			assert.Zero(t, results["connect to an abstract socket outside"])
			assert.Zero(t, results["connect by TCP"])
		})
	}
}

func TestKernelDeviceIoctl(t *testing.T) {
	abi := currentABI(t)
	for who, user := range identities() {
		for _, row := range []struct {
			name   string
			access Access
			want   syscall.Errno
		}{
			{"granted", Read | Write | Control, 0},
			{"not granted", Read | Write, unix.EACCES},
		} {
			t.Run(who+"/"+row.name, func(t *testing.T) {
				want := Ruleset{Files: true, Grants: []Grant{{Path: "/dev", Access: row.access}}}
				if abi < abiDeviceIoctl {
					row.want = 0
				}
				w := world{}
				control := probed(t, "terminal", nil, user, w)
				assert.Zero(t, control["pty"], "without Landlock: %v", syscall.Errno(control["pty"]))
				limited := probed(t, "terminal", &want, user, w)
				assert.Equal(t, row.want, syscall.Errno(limited["pty"]))
			})
		}
	}
}

// The domain goes along with execve, which is what the stub relies on.
func TestExecKeepsTheDomain(t *testing.T) {
	for who, user := range identities() {
		t.Run(who, func(t *testing.T) {
			w := newWorld(t, user)
			cat, err := exec.LookPath("cat")
			require.NoError(t, err)
			cat, err = filepath.EvalSymlinks(cat)
			require.NoError(t, err)
			want := testRuleset(w)
			for _, name := range []string{"/lib", "/lib64", "/etc/ld.so.cache", "/etc/ld.so.preload", cat} { // for a system without merged /usr
				if real, err := filepath.EvalSymlinks(name); err == nil {
					want.Grants = append(want.Grants, Grant{Path: real, Access: Read})
				}
			}
			read := func(name string) order {
				return order{Ruleset: want, Command: []string{cat, filepath.Join(w.Tree, name)}}
			}
			assert.Equal(t, content, output(t, start(t, read("ro/file"), user)))

			outside := read("out/file")
			out, err := start(t, outside, user).CombinedOutput()
			require.Error(t, err)
			assert.Contains(t, string(out), "Permission denied")
			outside.Ruleset = nil
			assert.Equal(t, content, output(t, start(t, outside, user)))
		})
	}
}

// Descriptors name what they were opened for, wherever the path leads now.
func TestGrantsByDescriptor(t *testing.T) {
	w := newWorld(t, nil)
	dir, err := os.Open(filepath.Join(w.Tree, "ro"))
	require.NoError(t, err)
	defer dir.Close()
	cmd := start(t, order{Special: "descriptor", World: w}, nil)
	cmd.ExtraFiles = []*os.File{dir} // descriptor 3 of the child
	output(t, cmd)
}

func childDescriptor(w world) error {
	readable := filepath.Join(w.Tree, "ro")
	if err := os.Rename(readable, readable+".old"); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(w.Tree, "out"), readable); err != nil {
		return err
	}
	grant := Grant{Path: "the label only", FD: 3, Access: Read}
	if err := enforce(Ruleset{Files: true, Grants: []Grant{grant}}); err != nil {
		return err
	}
	if err := open(unix.O_RDONLY)(readable + ".old/file"); err != nil {
		return err
	}
	if err := open(unix.O_RDONLY)(readable + "/file"); !errors.Is(err, unix.EACCES) {
		return errors.New("the path was granted instead of the descriptor")
	}
	return nil
}

func TestSpecialChildren(t *testing.T) {
	for who, user := range identities() {
		for _, name := range []string{"stack", "thread", "nothing", "bad grants"} {
			t.Run(name+"/"+who, func(t *testing.T) {
				output(t, start(t, order{Special: name, World: newWorld(t, user)}, user))
			})
		}
	}
}

// A file system that is mounted below a grant after the fact, by somebody outside
// of the domain, is covered by the grant. Needs a mount namespace, hence root.
func TestLateMountsAreCovered(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("needs root to mount")
		return
	}
	w := newWorld(t, nil)
	cmd := start(t, order{Special: "late mount", World: w}, nil)
	cmd.SysProcAttr.Unshareflags = unix.CLONE_NEWNS
	assert.Equal(t, content, strings.TrimSpace(output(t, cmd)))
}

// The constants of this package, against the ones that x/sys has for this system.
func TestConstantsAreTheKernels(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]uint64{
		"execute":       {uint64(execute), unix.LANDLOCK_ACCESS_FS_EXECUTE},
		"write-file":    {uint64(writeFile), unix.LANDLOCK_ACCESS_FS_WRITE_FILE},
		"read-file":     {uint64(readFile), unix.LANDLOCK_ACCESS_FS_READ_FILE},
		"read-dir":      {uint64(readDir), unix.LANDLOCK_ACCESS_FS_READ_DIR},
		"remove-dir":    {uint64(removeDir), unix.LANDLOCK_ACCESS_FS_REMOVE_DIR},
		"remove-file":   {uint64(removeFile), unix.LANDLOCK_ACCESS_FS_REMOVE_FILE},
		"make-char":     {uint64(makeChar), unix.LANDLOCK_ACCESS_FS_MAKE_CHAR},
		"make-dir":      {uint64(makeDir), unix.LANDLOCK_ACCESS_FS_MAKE_DIR},
		"make-reg":      {uint64(makeReg), unix.LANDLOCK_ACCESS_FS_MAKE_REG},
		"make-sock":     {uint64(makeSock), unix.LANDLOCK_ACCESS_FS_MAKE_SOCK},
		"make-fifo":     {uint64(makeFifo), unix.LANDLOCK_ACCESS_FS_MAKE_FIFO},
		"make-block":    {uint64(makeBlock), unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK},
		"make-sym":      {uint64(makeSym), unix.LANDLOCK_ACCESS_FS_MAKE_SYM},
		"refer":         {uint64(refer), unix.LANDLOCK_ACCESS_FS_REFER},
		"truncate":      {uint64(truncate), unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		"ioctl-dev":     {uint64(ioctlDev), unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		"resolve-unix":  {uint64(resolveUnix), unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
		"bind-tcp":      {uint64(bindTCP), unix.LANDLOCK_ACCESS_NET_BIND_TCP},
		"connect-tcp":   {uint64(connectTCP), unix.LANDLOCK_ACCESS_NET_CONNECT_TCP},
		"bind-udp":      {uint64(bindUDP), unix.LANDLOCK_ACCESS_NET_BIND_UDP},
		"send-udp":      {uint64(sendUDP), unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP},
		"abstract-unix": {uint64(ScopeAbstractUnix), unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET},
		"signal":        {uint64(ScopeSignal), unix.LANDLOCK_SCOPE_SIGNAL},
		"path rule":     {rulePathBeneath, unix.LANDLOCK_RULE_PATH_BENEATH},
	} {
		assert.Equal(t, pair[1], pair[0], name)
	}
	assert.Len(t, rightNames, 17)
	assert.Equal(t, endOfRights, rights(1)<<len(rightNames))
}

// The rights of each ABI are those that a kernel of this ABI takes, and no more.
func TestKernelKnowsThePlannedRights(t *testing.T) {
	abi := currentABI(t)
	e, _ := planned(t, abi, everything)
	e.grants = nil
	require.Zero(t, madeAndClosed(e), "%v", e)
	if abi < abiUDP {
		next, _ := planned(t, abiUDP, everything)
		next.grants = nil
		require.Equal(t, uint32(unix.EINVAL), madeAndClosed(next).Errno)
	}
}

// madeAndClosed is all of Apply but what would restrict the test.
func madeAndClosed(e Enforced) script.Failure {
	s := script.New()
	e.writeRuleset(s)
	s.Call(unix.SYS_CLOSE, script.In(script.Ruleset))
	return script.Run(s)
}

func BenchmarkApply(b *testing.B) {
	abi, err := ABI()
	require.NoError(b, err)
	grants := make([]Grant, 0, 100)
	for range 100 {
		grants = append(grants, Grant{Path: "/usr/bin", Access: Read})
	}
	e, _ := planned(b, abi, Ruleset{Files: true, Grants: grants})
	for b.Loop() {
		require.Zero(b, madeAndClosed(e))
	}
}
