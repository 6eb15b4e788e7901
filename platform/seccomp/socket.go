package seccomp

// Address families of Linux (AF_*).
const (
	familyUnix    = 1
	familyInet    = 2
	familyInet6   = 10
	familyNetlink = 16
)

// Socket types of Linux (SOCK_*). The kernel reads the type from the low four
// bits; SOCK_NONBLOCK and SOCK_CLOEXEC lie above.
const (
	socketType = 0xf

	sockStream    = 1
	sockRaw       = 3
	sockSeqpacket = 5
	sockPacket    = 10
)

// Protocols: 0 lets the type choose, or means route for netlink.
const (
	protocolDefault = 0
	protocolTCP     = 6
	protocolUDP     = 17
	netlinkRoute    = 0
)

// socketRules allows families by list. The families of Linux load kernel modules
// on demand and several leave the network namespace (AF_VSOCK) or have been used
// to take over the host (AF_ALG, CVE-2026-31431).
func socketRules(c Config) []Rule {
	rules := make([]Rule, 0, 8)
	families := socketFamilies(c)
	refused := Rule{
		Calls:  []Call{sysSocket},
		Action: Errno(eafnosupport), Reason: "socket families are an allow-list",
	}
	if len(families) > 0 {
		refused.When = []Test{isNot(0, families...)}
	}
	rules = append(rules, refused)
	if c.Network != NetworkOff {
		// AF_INET with SOCK_PACKET is AF_PACKET by its name of Linux 2.0, and so
		// is not caught by the family.
		rules = append(rules, Rule{
			Calls:  []Call{sysSocket},
			When:   []Test{is(0, familyInet, familyInet6), field(1, socketType, sockRaw, sockPacket)},
			Action: Errno(eperm), Reason: "raw and packet sockets, should the sandbox run as uid 0",
		})
	}
	switch c.Network {
	case NetworkProxy:
		rules = append(rules, Rule{
			Calls: []Call{sysSocket},
			When: []Test{is(0, familyInet, familyInet6),
				isNot(2, protocolDefault, protocolTCP, protocolUDP)},
			Action: Errno(eprotonosupport), Reason: "MPTCP, SMC and SCTP pass by Landlock's port rules",
		})
	case NetworkOn:
		rules = append(rules, Rule{
			Calls:  []Call{sysSocket},
			When:   []Test{is(0, familyNetlink), isNot(2, netlinkRoute)},
			Action: Errno(eafnosupport), Reason: "netlink beyond route: audit, firewall, kernel events",
		})
	}
	rules = append(rules, Rule{
		Calls: []Call{sysSocketpair}, When: []Test{isNot(0, familyUnix)},
		Action: Errno(eafnosupport), Reason: "no other family has pairs but TIPC",
	})
	if !c.UnixSockets {
		rules = append(rules, Rule{
			Calls: []Call{sysSocketpair}, When: []Test{fieldNot(1, socketType, sockStream, sockSeqpacket)},
			Action: Errno(esocktnosupport), Reason: "a datagram pair reaches any socket file with connect or sendto",
		})
	}
	return rules
}

func socketFamilies(c Config) []uint32 {
	families := make([]uint32, 0, 4)
	if c.UnixSockets {
		families = append(families, familyUnix)
	}
	if c.Network != NetworkOff {
		families = append(families, familyInet, familyInet6)
	}
	if c.Network == NetworkOn {
		families = append(families, familyNetlink)
	}
	return families
}
