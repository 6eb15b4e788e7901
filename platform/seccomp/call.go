package seccomp

import "math"

// Call is a system call that the table decides about. Calls without a row are
// not listed: they are allowed.
type Call uint8

// The calls of the table, in alphabetical order.
const (
	sysAcct Call = iota
	sysAddKey
	sysAdjtimex
	sysBpf
	sysChmod
	sysChroot
	sysClockAdjtime
	sysClockSettime
	sysClone
	sysClone3
	sysCreat
	sysCreateModule
	sysDeleteModule
	sysFanotifyInit
	sysFchmod
	sysFchmodat
	sysFchmodat2
	sysFinitModule
	sysFsconfig
	sysFsmount
	sysFsopen
	sysFspick
	sysGetKernelSyms
	sysInitModule
	sysIoUringEnter
	sysIoUringRegister
	sysIoUringSetup
	sysIoctl
	sysIoperm
	sysIopl
	sysIoprioSet
	sysKcmp
	sysKexecFileLoad
	sysKexecLoad
	sysKeyctl
	sysLookupDcookie
	sysMbind
	sysMigratePages
	sysMknod
	sysMknodat
	sysModifyLdt
	sysMount
	sysMountSetattr
	sysMoveMount
	sysMovePages
	sysMqOpen
	sysMqUnlink
	sysMsgctl
	sysMsgget
	sysMsgrcv
	sysMsgsnd
	sysNameToHandleAt
	sysNfsservctl
	sysOpen
	sysOpenByHandleAt
	sysOpenTree
	sysOpenTreeAttr
	sysOpenat
	sysOpenat2
	sysPerfEventOpen
	sysPersonality
	sysPidfdGetfd
	sysPivotRoot
	sysPrlimit64
	sysProcessVmReadv
	sysProcessVmWritev
	sysPtrace
	sysQueryModule
	sysQuotactl
	sysQuotactlFd
	sysReboot
	sysRequestKey
	sysSemctl
	sysSemget
	sysSemop
	sysSemtimedop
	sysSetdomainname
	sysSethostname
	sysSetns
	sysSetpriority
	sysSettimeofday
	sysShmat
	sysShmctl
	sysShmget
	sysSocket
	sysSocketpair
	sysSwapoff
	sysSwapon
	sysSysctl
	sysSysfs
	sysSyslog
	sysUmount2
	sysUnshare
	sysUselib
	sysUserfaultfd
	sysUstat
	sysVhangup
	callCount
)

// lastReviewed is the newest system call that was weighed for the table
// (rseq_slice_yield, Linux 7.0). Numbers above it answer ENOSYS, so that a
// kernel newer than this table opens nothing. New calls have had the same number
// on every architecture since 424 (Linux 5.1), so one bound serves both.
const lastReviewed = 471

// absent stands for a call that the architecture never had.
const absent = -1

type number struct {
	name         string
	amd64, arm64 int16
}

// String returns the kernel's name of the call.
func (c Call) String() string {
	if c >= callCount {
		return "unknown"
	}
	return numbers[c].name
}

// Number returns the call's number on arch, and false where the architecture
// has no such call (arm64 has openat but no open).
func (c Call) Number(arch Arch) (uint32, bool) {
	if c >= callCount {
		return math.MaxUint32, false
	}
	n := numbers[c].amd64
	if arch == ARM64 {
		n = numbers[c].arm64
	}
	return uint32(int32(n)), n != absent
}

// numbers is data only: the linker lays it out, nothing runs at start.
var numbers = [callCount]number{
	sysAcct:            {"acct", 163, 89},
	sysAddKey:          {"add_key", 248, 217},
	sysAdjtimex:        {"adjtimex", 159, 171},
	sysBpf:             {"bpf", 321, 280},
	sysChmod:           {"chmod", 90, absent},
	sysChroot:          {"chroot", 161, 51},
	sysClockAdjtime:    {"clock_adjtime", 305, 266},
	sysClockSettime:    {"clock_settime", 227, 112},
	sysClone:           {"clone", 56, 220},
	sysClone3:          {"clone3", 435, 435},
	sysCreat:           {"creat", 85, absent},
	sysCreateModule:    {"create_module", 174, absent},
	sysDeleteModule:    {"delete_module", 176, 106},
	sysFanotifyInit:    {"fanotify_init", 300, 262},
	sysFchmod:          {"fchmod", 91, 52},
	sysFchmodat:        {"fchmodat", 268, 53},
	sysFchmodat2:       {"fchmodat2", 452, 452},
	sysFinitModule:     {"finit_module", 313, 273},
	sysFsconfig:        {"fsconfig", 431, 431},
	sysFsmount:         {"fsmount", 432, 432},
	sysFsopen:          {"fsopen", 430, 430},
	sysFspick:          {"fspick", 433, 433},
	sysGetKernelSyms:   {"get_kernel_syms", 177, absent},
	sysInitModule:      {"init_module", 175, 105},
	sysIoUringEnter:    {"io_uring_enter", 426, 426},
	sysIoUringRegister: {"io_uring_register", 427, 427},
	sysIoUringSetup:    {"io_uring_setup", 425, 425},
	sysIoctl:           {"ioctl", 16, 29},
	sysIoperm:          {"ioperm", 173, absent},
	sysIopl:            {"iopl", 172, absent},
	sysIoprioSet:       {"ioprio_set", 251, 30},
	sysKcmp:            {"kcmp", 312, 272},
	sysKexecFileLoad:   {"kexec_file_load", 320, 294},
	sysKexecLoad:       {"kexec_load", 246, 104},
	sysKeyctl:          {"keyctl", 250, 219},
	sysLookupDcookie:   {"lookup_dcookie", 212, 18},
	sysMbind:           {"mbind", 237, 235},
	sysMigratePages:    {"migrate_pages", 256, 238},
	sysMknod:           {"mknod", 133, absent},
	sysMknodat:         {"mknodat", 259, 33},
	sysModifyLdt:       {"modify_ldt", 154, absent},
	sysMount:           {"mount", 165, 40},
	sysMountSetattr:    {"mount_setattr", 442, 442},
	sysMoveMount:       {"move_mount", 429, 429},
	sysMovePages:       {"move_pages", 279, 239},
	sysMqOpen:          {"mq_open", 240, 180},
	sysMqUnlink:        {"mq_unlink", 241, 181},
	sysMsgctl:          {"msgctl", 71, 187},
	sysMsgget:          {"msgget", 68, 186},
	sysMsgrcv:          {"msgrcv", 70, 188},
	sysMsgsnd:          {"msgsnd", 69, 189},
	sysNameToHandleAt:  {"name_to_handle_at", 303, 264},
	sysNfsservctl:      {"nfsservctl", 180, 42},
	sysOpen:            {"open", 2, absent},
	sysOpenByHandleAt:  {"open_by_handle_at", 304, 265},
	sysOpenTree:        {"open_tree", 428, 428},
	sysOpenTreeAttr:    {"open_tree_attr", 467, 467},
	sysOpenat:          {"openat", 257, 56},
	sysOpenat2:         {"openat2", 437, 437},
	sysPerfEventOpen:   {"perf_event_open", 298, 241},
	sysPersonality:     {"personality", 135, 92},
	sysPidfdGetfd:      {"pidfd_getfd", 438, 438},
	sysPivotRoot:       {"pivot_root", 155, 41},
	sysPrlimit64:       {"prlimit64", 302, 261},
	sysProcessVmReadv:  {"process_vm_readv", 310, 270},
	sysProcessVmWritev: {"process_vm_writev", 311, 271},
	sysPtrace:          {"ptrace", 101, 117},
	sysQueryModule:     {"query_module", 178, absent},
	sysQuotactl:        {"quotactl", 179, 60},
	sysQuotactlFd:      {"quotactl_fd", 443, 443},
	sysReboot:          {"reboot", 169, 142},
	sysRequestKey:      {"request_key", 249, 218},
	sysSemctl:          {"semctl", 66, 191},
	sysSemget:          {"semget", 64, 190},
	sysSemop:           {"semop", 65, 193},
	sysSemtimedop:      {"semtimedop", 220, 192},
	sysSetdomainname:   {"setdomainname", 171, 162},
	sysSethostname:     {"sethostname", 170, 161},
	sysSetns:           {"setns", 308, 268},
	sysSetpriority:     {"setpriority", 141, 140},
	sysSettimeofday:    {"settimeofday", 164, 170},
	sysShmat:           {"shmat", 30, 196},
	sysShmctl:          {"shmctl", 31, 195},
	sysShmget:          {"shmget", 29, 194},
	sysSocket:          {"socket", 41, 198},
	sysSocketpair:      {"socketpair", 53, 199},
	sysSwapoff:         {"swapoff", 168, 225},
	sysSwapon:          {"swapon", 167, 224},
	sysSysctl:          {"_sysctl", 156, absent},
	sysSysfs:           {"sysfs", 139, absent},
	sysSyslog:          {"syslog", 103, 116},
	sysUmount2:         {"umount2", 166, 39},
	sysUnshare:         {"unshare", 272, 97},
	sysUselib:          {"uselib", 134, absent},
	sysUserfaultfd:     {"userfaultfd", 323, 282},
	sysUstat:           {"ustat", 136, absent},
	sysVhangup:         {"vhangup", 153, 58},
}
