package landlock

import "strings"

// rights is a set of LANDLOCK_ACCESS_FS_* bits, from linux/landlock.h.
type rights uint64

const (
	execute rights = 1 << iota
	writeFile
	readFile
	readDir
	removeDir
	removeFile
	makeChar
	makeDir
	makeReg
	makeSock
	makeFifo
	makeBlock
	makeSym
	refer       // ABI 2
	truncate    // ABI 3
	ioctlDev    // ABI 5
	resolveUnix // ABI 9

	endOfRights
)

var rightNames = [...]string{
	"execute", "write-file", "read-file", "read-dir", "remove-dir", "remove-file",
	"make-char", "make-dir", "make-reg", "make-sock", "make-fifo", "make-block", "make-sym",
	"refer", "truncate", "ioctl-dev", "resolve-unix",
}

// onFiles are the rights that a rule for anything but a directory may have. The
// kernel answers EINVAL to others.
const onFiles = execute | writeFile | readFile | truncate | ioctlDev | resolveUnix

func (r rights) String() string { return names(uint64(r), rightNames[:]) }

// netRights is a set of LANDLOCK_ACCESS_NET_* bits.
type netRights uint64

const (
	bindTCP    netRights = 1 << iota // ABI 4
	connectTCP                       // ABI 4
	bindUDP                          // ABI 10
	sendUDP                          // ABI 10, connect and send
)

func (r netRights) String() string {
	return names(uint64(r), []string{"bind-tcp", "connect-tcp", "bind-udp", "connect-send-udp"})
}

// Scope is a set of limits on reaching processes outside of the sandbox.
// The bits are LANDLOCK_SCOPE_*.
type Scope uint8

// The scopes (ABI 6).
const (
	// ScopeAbstractUnix refuses to connect to abstract unix sockets outside.
	ScopeAbstractUnix Scope = 1 << iota
	// ScopeSignal refuses to signal processes outside.
	ScopeSignal
)

const allScopes = ScopeAbstractUnix | ScopeSignal

func (s Scope) String() string { return names(uint64(s), []string{"abstract-unix", "signal"}) }

func names(bits uint64, list []string) string {
	var set []string
	for i, name := range list {
		if bits&(1<<i) != 0 {
			set = append(set, name)
		}
	}
	return strings.Join(set, " ")
}

// The ABIs that brought what sbx uses, with the kernels that have them.
const (
	abiFiles       = 1  // Linux 5.13
	abiRefer       = 2  // 5.19
	abiTruncate    = 3  // 6.2
	abiTCP         = 4  // 6.7
	abiDeviceIoctl = 5  // 6.10
	abiScopes      = 6  // 6.12
	abiUnixConnect = 9  // 7.1
	abiUDP         = 10 // 7.2
)

// known returns the file rights that an ABI has. A newer one has at least those of
// the newest known.
func known(abi int) rights {
	switch {
	case abi < abiFiles:
		return 0
	case abi < abiRefer:
		return refer - 1
	case abi < abiTruncate:
		return truncate - 1
	case abi < abiDeviceIoctl:
		return ioctlDev - 1
	case abi < abiUnixConnect:
		return resolveUnix - 1
	default:
		return endOfRights - 1
	}
}
