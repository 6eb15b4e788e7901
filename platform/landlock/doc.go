// Package landlock puts a process under Landlock: file access by hierarchy, TCP
// and UDP by port, and scopes that end signals and abstract sockets at the
// sandbox. It is the second layer inside bubblewrap and, with the stub alone, the
// wall of the built-in backend.
//
// # Model
//
// A [Ruleset] says what is wanted. [Plan] sets it against the Landlock ABI of a
// kernel and returns what this kernel can give, as an [Enforced], and the rest as
// named [Gap] values; it is pure. [ABI] and [Apply] are the two calls that touch
// the kernel.
//
// # Invariants
//
//   - Nothing is skipped in silence: what was asked and cannot be had is a Gap, and
//     an Enforced without any rule is an error in Apply.
//   - With Files set, everything is refused below no [Grant]. Grants add up;
//     there is no way to refuse something below one.
//   - A grant without [Read] is a drop box: files can be made, written and removed,
//     but neither read nor listed, nor moved or linked to where they could be.
//   - Device nodes cannot be made anywhere.
//   - A path is never followed through a symbolic link. The rule belongs to the
//     inode that was opened, wherever it is moved later.
//   - Rules bind the calling thread and what it executes or starts. Apply ties the
//     goroutine to its thread for good; execve then ends all other threads.
//   - Domains stack: an outer one keeps its force, and 16 of them is the limit.
//
// # Limits
//
// No Landlock handles chmod, chown, times, extended attributes, stat, chdir,
// readlink or inotify, nor limits and priorities of processes, nor System V
// objects. Files that are open already keep their rights. Names stay visible:
// what is refused answers EACCES, not ENOENT. Port rules do not look at
// addresses and miss Multipath TCP. With Files set, the process cannot change
// mounts; a file system that somebody else mounts below a grant is covered by
// that grant.
//
// # Why not go-landlock
//
// The module applies a ruleset to all threads by signals before ABI 8, which the
// stub does not need: its one thread calls execve next. Measured on Linux 6.18
// with four rules: 260 to 340 µs against 25 to 70 µs for the calls themselves, and
// 0.2 ms of a 1.9 ms start-up. Its best-effort mode enforces nothing at all where
// one rule does not fit, where this package names each gap. It also opens
// paths by itself, where sbx has descriptors that were checked.
package landlock
