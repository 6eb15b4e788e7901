package seccomp

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func probes() []probe {
	var all []probe
	for _, group := range [][]probe{
		namespaceProbes(), kernelProbes(), privilegedProbes(), obsoleteProbes(),
		modeProbes(), socketProbes(), debugProbes(), hostObjectProbes(), openProbes(), terminalProbes(),
	} {
		all = append(all, group...)
	}
	return all
}

func namespaceProbes() []probe {
	all := []probe{
		{name: "mount", want: unix.EPERM, do: call(sysMount), needs: "CAP_SYS_ADMIN"},
		{name: "umount2", want: unix.EPERM, do: call(sysUmount2)},
		{name: "pivot_root", want: unix.EPERM, do: call(sysPivotRoot), needs: "CAP_SYS_ADMIN"},
		{name: "chroot", want: unix.EPERM, do: call(sysChroot)},
		{name: "fsopen", want: unix.ENOSYS, do: call(sysFsopen)},
		{name: "fsconfig", want: unix.ENOSYS, do: call(sysFsconfig, none)},
		{name: "fsmount", want: unix.ENOSYS, do: call(sysFsmount, none)},
		{name: "fspick", want: unix.ENOSYS, do: call(sysFspick, none)},
		{name: "open_tree", want: unix.ENOSYS, do: descriptor(sysOpenTree, none, text("/"))},
		{name: "open_tree_attr", want: unix.ENOSYS, do: call(sysOpenTreeAttr, none), missing: "new in Linux 6.15"},
		{name: "move_mount", want: unix.ENOSYS, do: call(sysMoveMount, none)},
		{name: "mount_setattr", want: unix.ENOSYS, do: call(sysMountSetattr, none), missing: "new in Linux 5.12"},
		{name: "unshare", want: unix.EPERM, do: call(sysUnshare)},
		{name: "setns", want: unix.EPERM, do: call(sysSetns, none)},
		{name: "clone3", want: unix.ENOSYS, do: call(sysClone3)},
		{
			name: "user namespace for a process", want: unix.EPERM,
			do:      func(*stage) error { return spawn(unix.CLONE_NEWUSER) },
			missing: "user namespaces are shut on some machines",
		},
	}
	// CLONE_SIGHAND without CLONE_VM is invalid: no process comes of it.
	for name, flag := range map[string]uintptr{
		"NEWUSER": unix.CLONE_NEWUSER, "NEWNS": unix.CLONE_NEWNS, "NEWNET": unix.CLONE_NEWNET, "NEWPID": unix.CLONE_NEWPID,
		"NEWIPC": unix.CLONE_NEWIPC, "NEWUTS": unix.CLONE_NEWUTS, "NEWCGROUP": unix.CLONE_NEWCGROUP,
	} {
		all = append(all, probe{name: "clone " + name, want: unix.EPERM, do: call(sysClone, flag|unix.CLONE_SIGHAND)})
	}
	return all
}

func kernelProbes() []probe {
	return []probe{
		{name: "io_uring_setup", want: unix.ENOSYS, do: call(sysIoUringSetup, 1)},
		{name: "io_uring_enter", want: unix.ENOSYS, do: call(sysIoUringEnter, none)},
		{name: "io_uring_register", want: unix.ENOSYS, do: call(sysIoUringRegister, none)},
		{
			// The keyring of this process, which ends with it.
			name: "add_key", want: unix.EPERM,
			do: call(sysAddKey, text("user"), text("sbx-test"), text("x"), 1, none-1),
		},
		{name: "keyctl", want: unix.EPERM, do: call(sysKeyctl, 0, none-1)},
		{name: "request_key", want: unix.EPERM, do: call(sysRequestKey, text("user"), text("sbx-absent"))},
		{name: "bpf", want: unix.EPERM, do: call(sysBpf, 9999), needs: "CAP_BPF"},
		{name: "perf_event_open", want: unix.EPERM, do: call(sysPerfEventOpen)},
		{name: "userfaultfd", want: unix.EPERM, do: call(sysUserfaultfd, 0xffffffff)},
		{
			name: "fanotify_init", want: unix.EPERM, do: descriptor(sysFanotifyInit, unix.FAN_REPORT_FID),
			missing: "privileged before Linux 5.13",
		},
		{name: "modify_ldt", want: unix.EPERM, do: call(sysModifyLdt)},
		{name: "open_by_handle_at", want: unix.EPERM, do: call(sysOpenByHandleAt, none), needs: "CAP_DAC_READ_SEARCH"},
		{name: "name_to_handle_at", want: unix.EPERM, do: call(sysNameToHandleAt, none, text("/"))},
		{name: "personality READ_IMPLIES_EXEC", want: unix.EPERM, do: func(*stage) error {
			defer raw(sysPersonality, 0)
			return raw(sysPersonality, 0x0400000)
		}},
		{name: "mbind", want: unix.EPERM, do: call(sysMbind)},
		{name: "move_pages", want: unix.EPERM, do: call(sysMovePages)},
		{name: "migrate_pages", want: unix.EPERM, do: call(sysMigratePages)},
	}
}

func privilegedProbes() []probe {
	const badFlags = 0x8000
	return []probe{
		{name: "init_module", want: unix.EPERM, do: call(sysInitModule), needs: "CAP_SYS_MODULE"},
		{name: "finit_module", want: unix.EPERM, do: call(sysFinitModule, none), needs: "CAP_SYS_MODULE"},
		{name: "delete_module", want: unix.EPERM, do: call(sysDeleteModule, text("sbx-absent"), unix.O_NONBLOCK), needs: "CAP_SYS_MODULE"},
		{name: "kexec_load", want: unix.EPERM, do: call(sysKexecLoad, 0, 0, 0, badFlags), needs: "CAP_SYS_BOOT"},
		{name: "kexec_file_load", want: unix.EPERM, do: call(sysKexecFileLoad, none, none, 0, 0, badFlags), needs: "CAP_SYS_BOOT"},
		{name: "reboot", want: unix.EPERM, do: call(sysReboot), needs: "CAP_SYS_BOOT"}, // no magic numbers
		{name: "swapon", want: unix.EPERM, do: call(sysSwapon, 0, 0x7fffffff)},
		{name: "swapoff", want: unix.EPERM, do: call(sysSwapoff), needs: "CAP_SYS_ADMIN"},
		{name: "acct", want: unix.EPERM, do: call(sysAcct, 1), needs: "CAP_SYS_PACCT"}, // a bad pointer; 0 would switch it off
		{name: "quotactl", want: unix.EPERM, do: call(sysQuotactl, 0xffffffff)},
		{name: "quotactl_fd", want: unix.EPERM, do: call(sysQuotactlFd, none)},
		{name: "syslog", want: unix.EPERM, do: call(sysSyslog, 99), needs: "CAP_SYSLOG"},
		{name: "sethostname", want: unix.EPERM, do: call(sysSethostname, 0, none), needs: "CAP_SYS_ADMIN"},
		{name: "setdomainname", want: unix.EPERM, do: call(sysSetdomainname, 0, none), needs: "CAP_SYS_ADMIN"},
		{name: "settimeofday", want: unix.EPERM, do: call(sysSettimeofday, 1)},
		{name: "clock_settime", want: unix.EPERM, do: call(sysClockSettime, 9999)},
		{name: "clock_adjtime", want: unix.EPERM, do: call(sysClockAdjtime, 9999)},
		{name: "adjtimex", want: unix.EPERM, do: call(sysAdjtimex)},
		{name: "iopl", want: unix.EPERM, do: call(sysIopl, 99)},
		{name: "ioperm", want: unix.EPERM, do: call(sysIoperm, 1<<20, 1, 0)},
		{name: "vhangup", want: unix.EPERM, do: call(sysVhangup), needs: "CAP_SYS_TTY_CONFIG"}, // there is no terminal yet
	}
}

func obsoleteProbes() []probe {
	var all []probe
	for _, c := range []Call{
		sysCreateModule, sysQueryModule, sysGetKernelSyms, sysNfsservctl, sysUselib, sysSysctl, sysUstat, sysSysfs,
	} {
		all = append(all, probe{name: c.String(), want: unix.EPERM, do: call(c)})
	}
	return append(all, probe{
		name: "lookup_dcookie", want: unix.EPERM, do: call(sysLookupDcookie), needs: "CAP_SYS_ADMIN before Linux 6.7",
	})
}

func modeProbes() []probe {
	made := func(name string, do func() error) func(*stage) error {
		return func(*stage) error {
			defer os.Remove(name)
			return do()
		}
	}
	file := func(name string, do func(path uintptr) error) func(*stage) error {
		return made(name, func() error {
			if err := os.WriteFile(name, nil, 0o644); err != nil {
				return err
			}
			return do(text(name))
		})
	}
	const at = ^uintptr(99) // AT_FDCWD
	how := &unix.OpenHow{Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o4755}
	return []probe{
		{name: "chmod setuid", want: unix.EPERM, do: file("a", func(p uintptr) error { return raw(sysChmod, p, 0o4755) })},
		{name: "fchmodat setgid", want: unix.EPERM, do: file("b", func(p uintptr) error { return raw(sysFchmodat, at, p, 0o2755) })},
		{
			name: "fchmodat2 setuid", want: unix.EPERM, missing: "new in Linux 6.6",
			do: file("c", func(p uintptr) error { return raw(sysFchmodat2, at, p, 0o4755, 0) }),
		},
		{name: "fchmod setuid", want: unix.EPERM, do: made("d", func() error {
			f, err := os.Create("d")
			if err != nil {
				return err
			}
			defer f.Close()
			return raw(sysFchmod, f.Fd(), 0o4755)
		})},
		{name: "open setuid", want: unix.EPERM, do: made("e", func() error {
			return descriptor(sysOpen, text("e"), unix.O_CREAT|unix.O_WRONLY, 0o4755)(nil)
		})},
		{name: "openat setuid", want: unix.EPERM, do: made("f", func() error {
			return descriptor(sysOpenat, at, text("f"), unix.O_CREAT|unix.O_WRONLY, 0o4755)(nil)
		})},
		{name: "openat unnamed setuid", want: unix.EPERM, do: descriptor(sysOpenat, at, text("."), unix.O_TMPFILE|unix.O_WRONLY, 0o4755)},
		{name: "openat2 setuid", want: unix.ENOSYS, do: made("g", func() error {
			return descriptor(sysOpenat2, at, text("g"), pointer(how), unix.SizeofOpenHow)(nil)
		})},
		{name: "creat setuid", want: unix.EPERM, do: made("h", func() error { return descriptor(sysCreat, text("h"), 0o4755)(nil) })},
		{name: "mknod setuid", want: unix.EPERM, do: made("i", func() error { return raw(sysMknod, text("i"), unix.S_IFREG|0o4755) })},
		{name: "mknodat setuid", want: unix.EPERM, do: made("j", func() error { return raw(sysMknodat, at, text("j"), unix.S_IFREG|0o4755) })},
		{name: "mknodat character device", want: unix.EPERM, do: made("k", func() error {
			return raw(sysMknodat, at, text("k"), unix.S_IFCHR|0o644, 0)
		}), missing: "device 0:0 is privileged before Linux 5.8"},
		{name: "mknod block device", want: unix.EPERM, do: made("l", func() error {
			return raw(sysMknod, text("l"), unix.S_IFBLK|0o644, 0)
		}), needs: "CAP_MKNOD"},
	}
}

func socketProbes() []probe {
	all := []probe{
		{name: "datagram pair to a socket file", want: unix.ESOCKTNOSUPPORT, do: func(s *stage) error {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fds[0])
			defer unix.Close(fds[1])
			return unix.Sendto(fds[0], []byte("reached"), 0, &unix.SockaddrUnix{Name: s.socket})
		}},
		{name: "inet pair", want: unix.EAFNOSUPPORT, do: func(*stage) error {
			_, err := unix.Socketpair(unix.AF_INET, unix.SOCK_STREAM, 0)
			return err
		}},
	}
	for _, f := range []struct {
		name             string
		family, protocol int
	}{
		{"unix", unix.AF_UNIX, 0}, {"inet", unix.AF_INET, 0}, {"inet6", unix.AF_INET6, 0},
		{"netlink", unix.AF_NETLINK, unix.NETLINK_ROUTE}, {"kernel events", unix.AF_NETLINK, unix.NETLINK_KOBJECT_UEVENT},
		{"alg", unix.AF_ALG, 0}, {"vsock", unix.AF_VSOCK, 0}, {"packet", unix.AF_PACKET, 0}, {"xdp", unix.AF_XDP, 0},
		{"bluetooth", unix.AF_BLUETOOTH, 0}, {"can", unix.AF_CAN, 0}, {"tipc", unix.AF_TIPC, 0}, {"key", unix.AF_KEY, 0},
	} {
		missing := ""
		if f.family != unix.AF_UNIX && f.family != unix.AF_INET {
			missing = "a kernel module or option"
		}
		all = append(all, probe{
			name: "socket " + f.name, want: unix.EAFNOSUPPORT, missing: missing,
			do: descriptor(sysSocket, uintptr(f.family), unix.SOCK_DGRAM, uintptr(f.protocol)),
		})
	}
	return append(all,
		probe{name: "raw inet", want: unix.EAFNOSUPPORT,
			do: descriptor(sysSocket, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)},
		probe{name: "packet by its old name", want: unix.EAFNOSUPPORT, missing: "without packet sockets",
			do: descriptor(sysSocket, unix.AF_INET, unix.SOCK_PACKET, 0)},
		probe{name: "mptcp", want: unix.EAFNOSUPPORT,
			do: descriptor(sysSocket, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP)},
		probe{name: "tcp", want: unix.EAFNOSUPPORT,
			do: descriptor(sysSocket, unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_TCP)})
}

func debugProbes() []probe {
	const absentPid = 0x3ffffff
	self := uintptr(os.Getpid())
	return []probe{
		{name: "ptrace", want: unix.EPERM, do: call(sysPtrace, unix.PTRACE_ATTACH, absentPid)},
		{name: "process_vm_readv", want: unix.EPERM, do: call(sysProcessVmReadv, absentPid)},
		{name: "process_vm_writev", want: unix.EPERM, do: call(sysProcessVmWritev, absentPid)},
		{name: "pidfd_getfd", want: unix.EPERM, do: call(sysPidfdGetfd, none)},
		{name: "kcmp", want: unix.EPERM, do: call(sysKcmp, self, self, 0, 0, 1)},
	}
}

func hostObjectProbes() []probe {
	const absentID = 0x3ffffff
	self := uintptr(os.Getpid())
	limit := &unix.Rlimit{}
	kernelObject := func(make, control Call, args ...uintptr) func(*stage) error {
		return func(*stage) error {
			arch, err := Host()
			if err != nil {
				return err
			}
			nr, _ := make.Number(arch)
			id, _, errno := syscall.Syscall(uintptr(nr), 0, args[0], args[1])
			if errno != 0 {
				return errno
			}
			if control == sysSemctl {
				return raw(control, id, 0, unix.IPC_RMID)
			}
			return raw(control, id, unix.IPC_RMID, 0)
		}
	}
	queue := fmt.Sprintf("sbx-test-%d", self)
	return []probe{
		{name: "prlimit64 by number", want: unix.EPERM, do: call(sysPrlimit64, self, unix.RLIMIT_NOFILE, 0, pointer(limit))},
		{name: "setpriority by number", want: unix.EPERM, do: call(sysSetpriority, unix.PRIO_PROCESS, self, 0)},
		{name: "setpriority of a user", want: unix.EPERM, do: call(sysSetpriority, unix.PRIO_USER, absentID, 0)},
		{name: "ioprio_set by number", want: unix.EPERM, do: call(sysIoprioSet, 1, self, 0)},
		{name: "ioprio_set of a user", want: unix.EPERM, do: call(sysIoprioSet, 3, absentID, 0)},
		{name: "shared memory", want: unix.EPERM, do: kernelObject(sysShmget, sysShmctl, 4096, unix.IPC_CREAT|0o600)},
		{name: "message queue", want: unix.EPERM, do: kernelObject(sysMsgget, sysMsgctl, unix.IPC_CREAT|0o600, 0)},
		{name: "semaphore", want: unix.EPERM, do: kernelObject(sysSemget, sysSemctl, 1, unix.IPC_CREAT|0o600)},
		{name: "shmat", want: unix.EPERM, do: call(sysShmat, none)},
		{name: "msgsnd", want: unix.EPERM, do: call(sysMsgsnd, none)},
		{name: "msgrcv", want: unix.EPERM, do: call(sysMsgrcv, none)},
		{name: "semop", want: unix.EPERM, do: call(sysSemop, none)},
		{name: "semtimedop", want: unix.EPERM, do: call(sysSemtimedop, none)},
		{name: "POSIX queue", want: unix.EPERM, do: func(*stage) error {
			if err := descriptor(sysMqOpen, text(queue), unix.O_CREAT|unix.O_RDWR, 0o600)(nil); err != nil {
				return err
			}
			return raw(sysMqUnlink, text(queue))
		}},
		{name: "mq_unlink", want: unix.EPERM, do: call(sysMqUnlink, text(queue))},
	}
}

// terminalProbes come last, see stage.tty.
func terminalProbes() []probe {
	letter := text("x")
	request := func(code uintptr) func(*stage) error {
		return func(s *stage) error {
			tty, err := s.tty()
			if err != nil {
				return err
			}
			return raw(sysIoctl, tty, code, letter)
		}
	}
	return []probe{
		{name: "TIOCSTI", want: unix.EPERM, do: request(unix.TIOCSTI)},
		{name: "TIOCSTI with high bits", want: unix.EPERM, do: request(1<<32 | unix.TIOCSTI)},
		{name: "TIOCLINUX", want: unix.EPERM, do: request(0x541c)},
		{name: "terminal modes", do: func(s *stage) error {
			tty, err := s.tty()
			if err != nil {
				return err
			}
			_, err = unix.IoctlGetTermios(int(tty), unix.TCGETS)
			return err
		}},
	}
}

// openProbes succeed with and without the filter.
func openProbes() []probe {
	return []probe{
		{name: "create and chmod", do: func(*stage) error {
			defer os.Remove("open")
			if err := os.WriteFile("open", []byte("x"), 0o600); err != nil {
				return err
			}
			return os.Chmod("open", 0o755)
		}},
		{name: "mkdir with setgid, which the kernel drops", do: func(*stage) error {
			defer os.Remove("dir")
			if err := unix.Mkdir("dir", 0o6755); err != nil {
				return err
			}
			info, err := os.Stat("dir")
			if err != nil {
				return err
			}
			if info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
				return unix.EISDIR
			}
			return nil
		}},
		{name: "mkfifo", do: func(*stage) error {
			defer os.Remove("fifo")
			return unix.Mkfifo("fifo", 0o600)
		}},
		{name: "start a process", do: func(*stage) error { return spawn(0) }},
		{name: "stream pair", do: func(*stage) error {
			fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fds[0])
			return unix.Close(fds[1])
		}},
		{name: "personality query", do: call(sysPersonality, 0xffffffff)},
		{name: "own limits", do: func(*stage) error { return unix.Getrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{}) }},
		{name: "own priority", do: func(*stage) error { return unix.Setpriority(unix.PRIO_PROCESS, 0, 1) }},
	}
}
