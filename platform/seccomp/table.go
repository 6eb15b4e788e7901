package seccomp

// Rules returns the rows that apply to c, in the order in which they are tried.
// They do not depend on the architecture: a call that it lacks drops out when the
// table is compiled.
func Rules(c Config) []Rule {
	rules := make([]Rule, 0, 64)
	rules = append(rules, namespaceRules()...)
	rules = append(rules, kernelRules()...)
	rules = append(rules, privilegedRules()...)
	rules = append(rules, terminalRule())
	rules = append(rules, modeRules()...)
	rules = append(rules, socketRules(c)...)
	if !c.Debug {
		rules = append(rules, debugRule())
	}
	if !c.Namespaced {
		rules = append(rules, hostObjectRules()...)
	}
	return rules
}

// newNamespaces are the CLONE_NEW* flags of clone: mount, cgroup, UTS, IPC, user,
// PID, network. CLONE_NEWTIME shares a bit with the exit signal and works only
// with unshare and clone3.
const newNamespaces = 0x7e020000

func namespaceRules() []Rule {
	return []Rule{
		{
			Calls:  []Call{sysMount, sysUmount2, sysPivotRoot, sysChroot},
			Action: Errno(eperm), Reason: "the mounts are the sandbox",
		},
		{
			Calls: []Call{sysFsopen, sysFsconfig, sysFsmount, sysFspick, sysOpenTree, sysOpenTreeAttr,
				sysMoveMount, sysMountSetattr},
			Action: Errno(enosys), Reason: "mounts by descriptor; callers fall back to mount (CVE-2021-41133)",
		},
		{
			Calls:  []Call{sysUnshare, sysSetns},
			Action: Errno(eperm), Reason: "a user namespace gives every capability over kernel attack surface",
		},
		{
			Calls: []Call{sysClone}, When: []Test{anyOf(0, newNamespaces)},
			Action: Errno(eperm), Reason: "namespaces by clone",
		},
		{
			Calls:  []Call{sysClone3},
			Action: Errno(enosys), Reason: "flags lie behind a pointer; callers fall back to clone",
		},
	}
}

// Values of personality, from linux/personality.h.
const (
	perLinux       = 0x00000000
	perLinux32     = 0x00000008
	perUname26     = 0x00020000
	perNoRandomize = 0x00040000
	perQuery       = 0xffffffff
)

func kernelRules() []Rule {
	return []Rule{
		{
			Calls:  []Call{sysIoUringSetup, sysIoUringEnter, sysIoUringRegister},
			Action: Errno(enosys), Reason: "its queue makes sockets and opens files past every filter",
		},
		{
			Calls:  []Call{sysAddKey, sysKeyctl, sysRequestKey},
			Action: Errno(eperm), Reason: "the host's session keyring is inherited and no namespace holds it",
		},
		{
			Calls:  []Call{sysBpf, sysPerfEventOpen, sysUserfaultfd, sysFanotifyInit},
			Action: Errno(eperm), Reason: "kernel attack surface; fanotify reports files out of sight",
		},
		{
			Calls:  []Call{sysModifyLdt},
			Action: Errno(eperm), Reason: "16-bit segments: attack surface for emulators only",
		},
		{
			Calls:  []Call{sysOpenByHandleAt, sysNameToHandleAt},
			Action: Errno(eperm), Reason: "opens files by number, past every path",
		},
		{
			Calls:  []Call{sysPersonality},
			When:   []Test{isNot(0, perLinux, perLinux32, perUname26, perLinux32|perUname26, perNoRandomize, perQuery)},
			Action: Errno(eperm), Reason: "executable data and old memory layouts; gdb's value stays",
		},
		{
			Calls:  []Call{sysMbind, sysMovePages, sysMigratePages},
			Action: Errno(eperm), Reason: "moves memory of other processes; get_ and set_mempolicy stay",
		},
	}
}

// privilegedRules refuses what the kernel refuses to a process without
// capabilities anyway. They count where sbx runs as uid 0, and they shrink the
// kernel code that is in reach.
func privilegedRules() []Rule {
	return []Rule{
		{
			Calls: []Call{sysInitModule, sysFinitModule, sysDeleteModule, sysCreateModule, sysQueryModule,
				sysGetKernelSyms, sysKexecLoad, sysKexecFileLoad, sysReboot},
			Action: Errno(eperm), Reason: "replaces the kernel",
		},
		{
			Calls: []Call{sysSwapon, sysSwapoff, sysAcct, sysQuotactl, sysQuotactlFd, sysSyslog,
				sysSethostname, sysSetdomainname},
			Action: Errno(eperm), Reason: "administers the host; syslog shows its log",
		},
		{
			Calls:  []Call{sysSettimeofday, sysClockSettime, sysClockAdjtime, sysAdjtimex},
			Action: Errno(eperm), Reason: "the host's clock; adjtimex hides read or write behind a pointer",
		},
		{
			Calls:  []Call{sysIopl, sysIoperm, sysVhangup},
			Action: Errno(eperm), Reason: "hardware ports and terminals of others",
		},
		{
			Calls:  []Call{sysNfsservctl, sysLookupDcookie, sysUselib, sysSysctl, sysUstat, sysSysfs},
			Action: Errno(eperm), Reason: "obsolete, of no use to a command",
		},
	}
}

// Requests of ioctl, from asm-generic/ioctls.h; the same on both architectures.
const (
	tiocsti   = 0x5412
	tioclinux = 0x541c
)

func terminalRule() Rule {
	return Rule{
		Calls: []Call{sysIoctl}, When: []Test{is(1, tiocsti, tioclinux)},
		Action: Errno(eperm), Reason: "types into the terminal (CVE-2017-5226, CVE-2023-28100)",
	}
}

func debugRule() Rule {
	return Rule{
		Calls:  []Call{sysPtrace, sysProcessVmReadv, sysProcessVmWritev, sysPidfdGetfd, sysKcmp},
		Action: Errno(eperm), Reason: "memory and descriptors of other processes; opened by allowing debuggers",
	}
}

// Selectors whose zero id means the caller itself.
const (
	prioProcess   = 0 // PRIO_PROCESS
	ioprioProcess = 1 // IOPRIO_WHO_PROCESS
)

// hostObjectRules closes, by number, what PID and IPC namespaces would hide.
func hostObjectRules() []Rule {
	return []Rule{
		{
			Calls: []Call{sysPrlimit64}, When: []Test{isNot(0, 0)},
			Action: Errno(eperm), Reason: "limits of host processes; a process sets its own with pid 0",
		},
		{
			Calls: []Call{sysSetpriority}, When: []Test{isNot(0, prioProcess)},
			Action: Errno(eperm), Reason: "priority of a group or user includes host processes",
		},
		{
			Calls: []Call{sysSetpriority}, When: []Test{isNot(1, 0)},
			Action: Errno(eperm), Reason: "priority of host processes",
		},
		{
			Calls: []Call{sysIoprioSet}, When: []Test{isNot(0, ioprioProcess)},
			Action: Errno(eperm), Reason: "I/O priority of a group or user includes host processes",
		},
		{
			Calls: []Call{sysIoprioSet}, When: []Test{isNot(1, 0)},
			Action: Errno(eperm), Reason: "I/O priority of host processes",
		},
		{
			Calls: []Call{sysShmget, sysShmat, sysShmctl, sysMsgget, sysMsgsnd, sysMsgrcv, sysMsgctl,
				sysSemget, sysSemop, sysSemtimedop, sysSemctl},
			Action: Errno(eperm), Reason: "System V objects of the host, found by guessing a number",
		},
		{
			Calls:  []Call{sysMqOpen, sysMqUnlink},
			Action: Errno(eperm), Reason: "POSIX queues of the host",
		},
	}
}
