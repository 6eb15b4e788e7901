package landlock

import "fmt"

// Enforced is the part of a Ruleset that a kernel can give.
type Enforced struct {
	abi    int
	files  rights
	net    netRights
	scope  Scope
	grants []Grant
	ports  []portRule
}

type portRule struct {
	port  uint16
	allow netRights
}

// ABI returns the Landlock ABI that the plan is for.
func (e Enforced) ABI() int { return e.abi }

// Any reports whether there is anything to apply.
func (e Enforced) Any() bool { return e.files != 0 || e.net != 0 || e.scope != 0 }

// String lists what is refused where no rule opens it.
func (e Enforced) String() string {
	return fmt.Sprintf("abi %d files [%v] net [%v] scope [%v]", e.abi, e.files, e.net, e.scope)
}

// GapName identifies a gap. The names are stable and appear in run reports.
type GapName string

// The gaps that a newer kernel closes.
const (
	GapFiles         GapName = "files"
	GapRefer         GapName = "refer"
	GapTruncate      GapName = "truncate"
	GapTCP           GapName = "tcp"
	GapDeviceIoctl   GapName = "device-ioctl"
	GapScopeSignal   GapName = "scope-signal"
	GapScopeAbstract GapName = "scope-abstract-unix"
	GapUnixConnect   GapName = "unix-connect"
	GapUDP           GapName = "udp"
)

// The gaps that no kernel closes yet.
const (
	GapChmod   GapName = "chmod"
	GapChown   GapName = "chown"
	GapUtime   GapName = "utime"
	GapXattr   GapName = "xattr"
	GapStat    GapName = "stat"
	GapAddress GapName = "address"
	GapMPTCP   GapName = "mptcp"
)

// Gap is something that was asked for and that this kernel's Landlock does not do.
type Gap struct {
	Name GapName
	// Needs is the ABI that has it, 0 if none has.
	Needs int
	// Refuses is set where the kernel refuses more than was asked. All other gaps
	// leave something open.
	Refuses bool
	// Effect says what a command can, or cannot, do because of the gap.
	Effect string
}

// Plan sets want against the ABI of a kernel (0: no Landlock). The error is a
// [RulesetError].
func Plan(abi int, want Ruleset) (Enforced, []Gap, error) {
	if err := want.check(); err != nil {
		return Enforced{}, nil, err
	}
	e := Enforced{abi: abi}
	if want.Files {
		e.files = known(abi)
		e.grants = want.Grants
	}
	if abi >= abiTCP {
		e.limit(want.TCP, bindTCP, connectTCP)
	}
	if abi >= abiUDP {
		e.limit(want.UDP, bindUDP, sendUDP)
	}
	if abi >= abiScopes {
		e.scope = want.Scope
	}
	return e, gaps(abi, want), nil
}

func (e *Enforced) limit(p Ports, bind, connect netRights) {
	if !p.Limit {
		return
	}
	e.net |= bind | connect
	for _, port := range p.Bind {
		e.ports = append(e.ports, portRule{port, bind})
	}
	for _, port := range p.Connect {
		e.ports = append(e.ports, portRule{port, connect})
	}
}

// gaps lists what abi lacks of want. A missing whole stands for its parts: without
// TCP rules it does not matter which sockets would pass by them.
func gaps(abi int, want Ruleset) []Gap {
	var gaps []Gap
	missing := func(g Gap) bool {
		if g.Needs > 0 && abi >= g.Needs {
			return false
		}
		gaps = append(gaps, g)
		return true
	}
	if want.Files && !missing(filesGap) {
		for _, g := range fileGaps {
			missing(g)
		}
	}
	if want.TCP.Limit && !missing(Gap{GapTCP, abiTCP, false, "any TCP port can be bound and connected to"}) {
		missing(Gap{GapMPTCP, 0, false, "Multipath TCP sockets are not limited to the ports"})
		if len(want.TCP.Connect) > 0 {
			missing(Gap{GapAddress, 0, false, "allowed ports can be reached at any address"})
		}
	}
	if want.UDP.Limit {
		missing(Gap{GapUDP, abiUDP, false, "any UDP port can be bound and sent to"})
	}
	if want.Scope&ScopeSignal != 0 {
		missing(Gap{GapScopeSignal, abiScopes, false, "processes outside can be signalled"})
	}
	if want.Scope&ScopeAbstractUnix != 0 {
		missing(Gap{GapScopeAbstract, abiScopes, false, "abstract unix sockets outside can be connected to"})
	}
	return gaps
}

var filesGap = Gap{GapFiles, abiFiles, false, "files are not restricted at all"}

var fileGaps = [...]Gap{
	{GapRefer, abiRefer, true, "files cannot be renamed or linked to another directory"},
	{GapTruncate, abiTruncate, false, "truncate can empty files outside of the grants"},
	{GapDeviceIoctl, abiDeviceIoctl, false, "devices that can be opened take any ioctl"},
	{GapUnixConnect, abiUnixConnect, false, "unix sockets can be connected to wherever they lie"},
	{GapChmod, 0, false, "modes of files outside of the grants can be changed"},
	{GapChown, 0, false, "owner and group of files outside of the grants can be changed"},
	{GapUtime, 0, false, "times of files outside of the grants can be changed"},
	{GapXattr, 0, false, "extended attributes of files outside of the grants can be read and changed"},
	{GapStat, 0, false, "names, sizes and owners of files outside of the grants can be found out"},
}

// allowed returns the rights of a rule for access: those that the ruleset decides
// about and that the kind of file can have.
func (e Enforced) allowed(access Access, directory bool) rights {
	r := access.rights() & e.files
	if !directory {
		r &= onFiles
	}
	return r
}
