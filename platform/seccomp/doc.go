// Package seccomp holds the system call filter of a sandbox: a table of what is
// refused and why, and its translation to the BPF program that Linux runs on
// each call.
//
// # Model
//
// [Rules] lists the table for a [Config], a row per refusal. [Compile] turns it
// into a [Program] without asking the machine anything, so that every system can
// render and test the filters of both architectures; only [Install] needs Linux.
//
// # Invariants
//
//   - The filter only refuses. What it does not name is decided by the layers
//     around it, and it stacks with filters that are already there: the stricter
//     answer wins.
//   - The zero Config (but for Arch) refuses most. Setting a field or raising
//     Network never refuses a call that was allowed before.
//   - A call made through a foreign architecture (int 0x80, 32-bit ARM) kills the
//     process, since its numbers mean other calls. Numbers newer than the table,
//     which include the x32 range, answer ENOSYS.
//   - EPERM stands for "policy". ENOSYS stands for "this kernel is too old" and
//     goes to the calls whose callers all have an older way: clone3, io_uring,
//     the descriptor mount API and openat2.
//   - Arguments are compared on the low 32 bits, as the kernel reads them.
//   - What no argument can decide is decided once per number: Linux 5.11 and later
//     cache these answers, and the program does not run for them at all.
//
// # Choices
//
// openat2 is refused because its mode lies behind a pointer, where a filter
// cannot look: with O_CREAT and mode 04755 it leaves a setuid file on the host.
// The kernel clears the bit when an unprivileged process writes, so that the file
// stays empty until a privileged process fills it; but fallocate kept the bit on
// ext4 before Linux 5.18, writes through a mapping never clear it, and a sandbox
// that runs as uid 0 with CAP_FSETID keeps it anyway. Callers fall back to openat.
// An sbx inside sbx resolves paths one component at a time with O_PATH and
// O_NOFOLLOW, which gives what RESOLVE_NO_SYMLINKS gives.
//
// mkdir and mkdirat may carry setuid and setgid bits: the kernel drops them
// (vfs_mkdir), so that refusing would break callers and protect nothing.
//
// Without unix sockets a socketpair must be SOCK_STREAM or SOCK_SEQPACKET. A
// datagram pair can still be connected, or sent, to any socket file, and so would
// be a way around the refusal of socket(AF_UNIX).
//
// seccomp and the landlock calls stay open: a nested sandbox needs them, and they
// only narrow.
//
// # Limits
//
// A filter sees numbers, never memory: not paths, addresses or structures. It
// cannot tell one unix socket from another, nor a process of the sandbox from one
// of the host. It does not act on what was opened before, nor on work that
// another process does on request. Setgid on directories is refused along with
// setgid on files (chmod cannot be told apart), so "git init --shared" and
// unpacking setgid directories fail.
package seccomp
