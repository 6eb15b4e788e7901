package landlock

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// lastABI is one above the newest that adds anything.
const lastABI = abiUDP + 1

// everything asks for all that there is.
var everything = Ruleset{
	Files:  true,
	Grants: []Grant{{Path: "/usr", Access: Read}},
	TCP:    Ports{Limit: true, Connect: []uint16{443}, Bind: []uint16{0}},
	UDP:    Ports{Limit: true, Connect: []uint16{53}, Bind: []uint16{0}},
	Scope:  ScopeSignal | ScopeAbstractUnix,
}

func planned(t testing.TB, abi int, want Ruleset) (Enforced, []Gap) {
	t.Helper()
	e, gaps, err := Plan(abi, want)
	require.NoError(t, err)
	return e, gaps
}

func gapNames(gaps []Gap) []GapName {
	list := []GapName{}
	for _, g := range gaps {
		list = append(list, g.Name)
	}
	return list
}

var always = []GapName{GapChmod, GapChown, GapUtime, GapXattr, GapStat}

func TestGaps(t *testing.T) {
	t.Parallel()
	files := Ruleset{Files: true}
	for _, row := range []struct {
		name string
		abi  int
		want Ruleset
		gaps []GapName
	}{
		{"nothing asked, no Landlock", 0, Ruleset{}, []GapName{}},
		{"nothing asked", 7, Ruleset{}, []GapName{}},
		{"files, no Landlock", 0, files, []GapName{GapFiles}},
		{"files, ABI 1", 1, files, append([]GapName{GapRefer, GapTruncate, GapDeviceIoctl, GapUnixConnect}, always...)},
		{"files, ABI 2", 2, files, append([]GapName{GapTruncate, GapDeviceIoctl, GapUnixConnect}, always...)},
		{"files, ABI 3", 3, files, append([]GapName{GapDeviceIoctl, GapUnixConnect}, always...)},
		{"files, ABI 4", 4, files, append([]GapName{GapDeviceIoctl, GapUnixConnect}, always...)},
		{"files, ABI 5", 5, files, append([]GapName{GapUnixConnect}, always...)},
		{"files, ABI 8", 8, files, append([]GapName{GapUnixConnect}, always...)},
		{"files, ABI 9", 9, files, always},
		{"files, a kernel of the future", 99, files, always},
		{"tcp, ABI 3", 3, Ruleset{TCP: Ports{Limit: true}}, []GapName{GapTCP}},
		{"tcp shut, ABI 4", 4, Ruleset{TCP: Ports{Limit: true}}, []GapName{GapMPTCP}},
		{"tcp port, ABI 4", 4, Ruleset{TCP: Ports{Limit: true, Connect: []uint16{1}}}, []GapName{GapMPTCP, GapAddress}},
		{"udp, ABI 9", 9, Ruleset{UDP: Ports{Limit: true}}, []GapName{GapUDP}},
		{"udp, ABI 10", 10, Ruleset{UDP: Ports{Limit: true}}, []GapName{}},
		{"scopes, ABI 5", 5, Ruleset{Scope: allScopes}, []GapName{GapScopeSignal, GapScopeAbstract}},
		{"scopes, ABI 6", 6, Ruleset{Scope: allScopes}, []GapName{}},
		{"one scope, ABI 5", 5, Ruleset{Scope: ScopeSignal}, []GapName{GapScopeSignal}},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, gaps := planned(t, row.abi, row.want)
			assert.Equal(t, row.gaps, gapNames(gaps))
		})
	}
}

// A newer kernel gives no less, and leaves no gap that an older one closes.
// Without any Landlock one gap stands for all, so the order starts at ABI 1.
func TestNewerKernelsGiveMore(t *testing.T) {
	t.Parallel()
	for abi := 1; abi < lastABI; abi++ {
		older, olderGaps := planned(t, abi, everything)
		newer, newerGaps := planned(t, abi+1, everything)
		assert.Zero(t, older.files&^newer.files, "files, ABI %d", abi)
		assert.Zero(t, older.net&^newer.net, "net, ABI %d", abi)
		assert.Zero(t, older.scope&^newer.scope, "scope, ABI %d", abi)
		for _, g := range newerGaps {
			if g.Name == GapMPTCP || g.Name == GapAddress {
				continue // parts of "tcp", named once the whole is there
			}
			assert.Contains(t, olderGaps, g, "ABI %d", abi+1)
		}
	}
}

// Whatever is asked is either enforced or named.
func TestNothingIsSkippedInSilence(t *testing.T) {
	t.Parallel()
	for abi := range lastABI + 1 {
		e, gaps := planned(t, abi, everything)
		list := gapNames(gaps)
		for name, enforced := range map[GapName]bool{
			GapFiles:         e.files&readFile != 0,
			GapTruncate:      e.files&truncate != 0,
			GapDeviceIoctl:   e.files&ioctlDev != 0,
			GapUnixConnect:   e.files&resolveUnix != 0,
			GapTCP:           e.net&(bindTCP|connectTCP) == bindTCP|connectTCP,
			GapUDP:           e.net&(bindUDP|sendUDP) == bindUDP|sendUDP,
			GapScopeSignal:   e.scope&ScopeSignal != 0,
			GapScopeAbstract: e.scope&ScopeAbstractUnix != 0,
		} {
			if e.files == 0 && (name == GapTruncate || name == GapDeviceIoctl || name == GapUnixConnect) {
				name = GapFiles // which stands for its parts
			}
			assert.Equal(t, !enforced, slices.Contains(list, name), "%s with ABI %d", name, abi)
		}
	}
}

func TestGapsAreWellFormed(t *testing.T) {
	t.Parallel()
	for abi := range lastABI + 1 {
		_, gaps := planned(t, abi, everything)
		for _, g := range gaps {
			assert.NotEmpty(t, g.Effect, g.Name)
			assert.True(t, g.Needs == 0 || g.Needs > abi, "%s needs ABI %d, this is %d", g.Name, g.Needs, abi)
			assert.Equal(t, g.Name == GapRefer, g.Refuses, g.Name)
		}
	}
}

func TestAllowedRights(t *testing.T) {
	t.Parallel()
	const read = execute | readFile | readDir
	for _, row := range []struct {
		name      string
		abi       int
		access    Access
		directory bool
		want      rights
	}{
		{"read a directory", 7, Read, true, read},
		{"read a file", 7, Read, false, execute | readFile},
		{"write a file", 7, Write, false, writeFile | truncate},
		{"write a file, ABI 2", 2, Write, false, writeFile},
		{"drop box", 7, Write, true, writeFile | truncate | refer | removeDir | removeFile | makeDir | makeReg | makeSock | makeFifo | makeSym},
		{"drop box, ABI 1", 1, Write, true, writeFile | removeDir | removeFile | makeDir | makeReg | makeSock | makeFifo | makeSym},
		{"terminal", 5, Read | Write | Control, false, execute | readFile | writeFile | truncate | ioctlDev},
		{"terminal, ABI 4", 4, Read | Control, false, execute | readFile},
		{"socket, ABI 8", 8, Connect, false, 0},
		{"socket, ABI 9", 9, Connect, false, resolveUnix},
		{"directory of sockets, ABI 9", 9, Connect, true, resolveUnix},
		{"all, no Landlock", 0, allAccess, true, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			e, _ := planned(t, row.abi, Ruleset{Files: true})
			assert.Equal(t, row.want.String(), e.allowed(row.access, row.directory).String())
		})
	}
}

// The kernel refuses rules with rights that the ruleset does not handle, or that
// files cannot have; and no access opens what should stay shut everywhere.
func TestAllowedRightsAreAccepted(t *testing.T) {
	t.Parallel()
	for abi := range lastABI + 1 {
		e, _ := planned(t, abi, everything)
		for access := range allAccess + 1 {
			dir, file := e.allowed(access, true), e.allowed(access, false)
			assert.Zero(t, dir&^e.files)
			assert.Zero(t, file&^(dir&onFiles))
			assert.Zero(t, dir&(makeChar|makeBlock), "devices with %v", access)
			if access&Read == 0 {
				assert.Zero(t, dir&(readFile|readDir|execute), "reading with %v", access)
			}
			if access&Write == 0 {
				assert.Zero(t, dir&^(readFile|readDir|execute|ioctlDev|resolveUnix), "changing with %v", access)
			}
		}
	}
}

func TestRulesetsThatMeanNothing(t *testing.T) {
	t.Parallel()
	grant := func(g Grant) Ruleset { return Ruleset{Files: true, Grants: []Grant{g}} }
	for _, row := range []struct {
		name string
		want Ruleset
		text string
	}{
		{"grants without files", Ruleset{Grants: []Grant{{Path: "/", Access: Read}}}, "grants: without a limit on files they have no effect"},
		{"no path", grant(Grant{Access: Read}), "descriptor 0: neither a descriptor nor an absolute path"},
		{"relative path", grant(Grant{Path: "a", Access: Read}), "a: neither a descriptor nor an absolute path"},
		{"dots", grant(Grant{Path: "/a/../b", Access: Read}), "/a/../b: path is not clean"},
		{"trailing slash", grant(Grant{Path: "/a/", Access: Read}), "/a/: path is not clean"},
		{"negative descriptor", grant(Grant{FD: -1, Access: Read}), "descriptor -1: negative descriptor"},
		{"no access", grant(Grant{Path: "/a"}), "/a: grants nothing"},
		{"unknown access", grant(Grant{Path: "/a", Access: 0x80}), "/a: no such access bits: 0x80"},
		{"unknown scope", Ruleset{Scope: 4}, "scope: no such bits: 0x4"},
		{"ports without limit", Ruleset{TCP: Ports{Bind: []uint16{1}}}, "tcp: ports without a limit have no effect"},
		{"connect to 0", Ruleset{UDP: Ports{Limit: true, Connect: []uint16{0}}}, "udp: port 0 cannot be connected to"},
	} {
		t.Run(row.name, func(t *testing.T) {
			e, gaps, err := Plan(7, row.want)
			var typed RulesetError
			require.ErrorAs(t, err, &typed)
			assert.EqualError(t, err, "landlock ruleset: "+row.text)
			assert.False(t, e.Any())
			assert.Empty(t, gaps)
		})
	}
}

func TestPlanGolden(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for abi := range lastABI + 1 {
		e, gaps := planned(t, abi, everything)
		fmt.Fprintln(&b, e)
		for _, g := range gaps {
			fmt.Fprintf(&b, "\tgap %s: %s", g.Name, g.Effect)
			if g.Needs > 0 {
				fmt.Fprintf(&b, " (ABI %d)", g.Needs)
			}
			b.WriteByte('\n')
		}
	}
	file := filepath.Join("testdata", "plan.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String(), "-update rewrites it")
}

func FuzzPlan(f *testing.F) {
	f.Add(7, "/tmp", 0, uint8(3), uint8(3), uint16(80), true)
	f.Add(0, "", 5, uint8(2), uint8(0), uint16(0), false)
	f.Fuzz(func(t *testing.T, abi int, path string, fd int, access, scope uint8, port uint16, limit bool) {
		e, gaps, err := Plan(abi, Ruleset{
			Files:  limit,
			Grants: []Grant{{Path: path, FD: fd, Access: Access(access)}},
			TCP:    Ports{Limit: limit, Connect: []uint16{port}},
			Scope:  Scope(scope),
		})
		if err != nil {
			assert.False(t, e.Any())
			assert.Empty(t, gaps)
			return
		}
		assert.Zero(t, e.allowed(Access(access), false)&^onFiles)
		assert.NotEmpty(t, gaps, "files always leave gaps")
	})
}
