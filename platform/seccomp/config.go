package seccomp

import "fmt"

// Network says which socket families a command may create.
type Network uint8

const (
	// NetworkOff allows no network family at all, not even the loopback.
	NetworkOff Network = iota
	// NetworkProxy allows TCP and UDP over IPv4 and IPv6, for a command that a
	// namespace or Landlock confines to its own loopback or to a proxy. Protocols
	// that Landlock's port rules do not see (MPTCP, SMC, SCTP) are refused.
	NetworkProxy
	// NetworkOn allows IPv4, IPv6 and route netlink, which name resolution and
	// interface listing use. AF_VSOCK, AF_ALG, AF_PACKET and the rest stay shut.
	NetworkOn
)

// String returns "off", "proxy" or "on".
func (n Network) String() string {
	switch n {
	case NetworkOff:
		return "off"
	case NetworkProxy:
		return "proxy"
	case NetworkOn:
		return "on"
	}
	return fmt.Sprintf("Network(%d)", uint8(n))
}

// Config selects the rows of the table. Every field but Arch relaxes it.
type Config struct {
	Arch    Arch
	Network Network

	// UnixSockets allows socket(AF_UNIX). Which socket files a command then
	// reaches is for mounts and Landlock (ABI 9) to decide.
	UnixSockets bool

	// Debug allows ptrace and its relatives, for debuggers and strace.
	Debug bool

	// Namespaced says that the command has PID and IPC namespaces of its own.
	// Without, the calls that reach host objects by number are refused as well:
	// limits and priorities of other processes, System V IPC and POSIX queues.
	Namespaced bool
}

// ConfigError reports a field whose value has no meaning.
type ConfigError struct {
	Field string
	Value fmt.Stringer
}

func (e ConfigError) Error() string {
	return fmt.Sprintf("system call filter: no such %s: %v", e.Field, e.Value)
}

func (c Config) check() error {
	if _, ok := c.Arch.audit(); !ok {
		return ConfigError{Field: "architecture", Value: c.Arch}
	}
	if c.Network > NetworkOn {
		return ConfigError{Field: "network mode", Value: c.Network}
	}
	return nil
}
