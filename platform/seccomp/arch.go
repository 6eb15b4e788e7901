package seccomp

import (
	"fmt"
	"runtime"
)

// Arch is a processor architecture that a program is compiled for. A program
// for one architecture kills the process on any other.
type Arch uint8

// The architectures that have number tables.
const (
	AMD64 Arch = iota + 1
	ARM64
)

// The values of seccomp_data.arch, from linux/audit.h: the ELF machine with
// flags for 64 bits and little endian. i386, x32's 32-bit entry and 32-bit ARM
// have values of their own and so count as foreign.
const (
	auditAMD64 = 0xc000003e
	auditARM64 = 0xc00000b7
)

// Host returns the architecture that this executable was built for. The error
// is an [ArchError] where there is no number table for it.
func Host() (Arch, error) {
	switch runtime.GOARCH {
	case "amd64":
		return AMD64, nil
	case "arm64":
		return ARM64, nil
	}
	return 0, ArchError{Name: runtime.GOARCH}
}

// String returns Go's name of the architecture.
func (a Arch) String() string {
	switch a {
	case AMD64:
		return "amd64"
	case ARM64:
		return "arm64"
	}
	return fmt.Sprintf("Arch(%d)", uint8(a))
}

func (a Arch) audit() (uint32, bool) {
	switch a {
	case AMD64:
		return auditAMD64, true
	case ARM64:
		return auditARM64, true
	}
	return 0, false
}

// ArchError reports an architecture without a number table.
type ArchError struct {
	Name string // as Go spells it
}

func (e ArchError) Error() string {
	return "no system call filter for architecture " + e.Name
}
