package sbpltest

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
)

// Action is one thing that a command does, in terms of system calls. The
// kernel turns it into checks of operations; all must be allowed.
type Action struct {
	Name string // a name of Actions
	Path string // object, or source of rename, link and clone
	To   string // destination of rename, link and clone
	Type string // vnode type of Path; "" is REGULAR-FILE
	Over bool   // the destination exists and is replaced

	Via []string // symbolic links that the path walked through, by their own paths

	Proto string         // tcp or udp, for connect, bind and listen
	Addr  netip.AddrPort // remote of connect, local of bind and listen

	Target  string // whom process information or a signal is about
	Subject string // mach service or sysctl name
}

// Row is one line of the table from system calls to operations.
type Row struct {
	Name   string
	Calls  string // system calls it stands for
	Source string // who showed which operations are checked; "inferred" where nobody did
	checks func(a Action) []Query
}

// Checks lists the questions that the kernel asks about the action. The order
// is that of the kernel as far as it is known; any refusal stops the action.
func (a Action) Checks() []Query {
	i := slices.IndexFunc(Actions, func(r Row) bool { return r.Name == a.Name })
	if i < 0 {
		panic(fmt.Sprintf("sbpltest: no action %q", a.Name))
	}
	return Actions[i].checks(a)
}

// Allows reports whether every check of the action passes under s.
func (p *Profile) Allows(a Action, s Semantics) bool {
	for _, q := range a.Checks() {
		if !p.Decide(q, s).Allowed {
			return false
		}
	}
	return true
}

// Actions is the table. mxc, srt (sandbox-runtime), Nix and Homebrew are the
// projects whose measurements or shipped profiles show the row.
var Actions = []Row{
	{"read", "open(O_RDONLY), read, mmap", "every deny list in use; greywall#20 measured the data operation", onPath("file-read-data")},
	{"list", "open(O_DIRECTORY), getdirentries", "safehouse tests: stat of HOME works while ls fails", onDir("file-read-data")},
	{"stat", "stat, lstat, readlink, access(F_OK)", "safehouse tests; zero#302 for ancestors", stat},
	{"realpath", "realpath, getcwd, getattrlist on each component", "ai-jail#77, zero#302, cco#49", realpath},
	{"getxattr", "getxattr, listxattr", "operation table; inferred", onPath("file-read-xattr")},
	{"exec", "execve, posix_spawn", "operation table; Nix grants both", exec},
	{"create", "open(O_CREAT) of a new name, mkdir, symlink, mkfifo", "srt: mkdir below an absent protected path", onPath("file-write-create")},
	{"write", "open(O_WRONLY), write, truncate", "Homebrew tests", onPath("file-write-data")},
	{"unlink", "unlink, rmdir", "srt tests on file-write-unlink", onPath("file-write-unlink")},
	{"rename", "rename, renameatx_np", "srt#8: mv of a read-denied file was stopped by denying unlink", rename},
	{"link", "link, linkat", "operation table; others deny file-link against aliases", link("file-link")},
	{"clone", "clonefile, fclonefileat", "operation table; inferred", link("file-clone")},
	{"clone-tree", "clonefile of a directory", "man page: it copies the hierarchy; which paths are checked is inferred", cloneTree},
	{"chmod", "chmod, fchmod", "Homebrew tests: file-write-mode", onPath("file-write-mode")},
	{"chmod-setuid", "chmod with S_ISUID or S_ISGID", "Homebrew and Nix deny file-write-setugid", onPath("file-write-mode", "file-write-setugid")},
	{"chown", "chown", "operation table; inferred", onPath("file-write-owner")},
	{"utimes", "utimes, futimes", "operation table; inferred", onPath("file-write-times")},
	{"setxattr", "setxattr, removexattr", "operation table; inferred", onPath("file-write-xattr")},
	{"chflags", "chflags", "operation table; inferred", onPath("file-write-flags")},
	{"setacl", "acl_set_file", "operation table; inferred", onPath("file-write-acl")},
	{"ioctl", "ioctl on a device", "operation table; nono and agent-sandbox.nix grant it for terminals", onPath("file-ioctl")},
	{"connect", "connect over IP", "mxc#749; SANDBOX_LORE with nc", connect},
	{"bind", "bind over IP", "mxc#754: network-bind alone permits bind", bind("network-bind")},
	{"listen", "bind and listen over IP", "mxc#754: listen needs network-inbound", bind("network-bind", "network-inbound")},
	{"connect-unix", "connect to an AF_UNIX socket", "nono#488: it is network-outbound, no file operation", unix("network-outbound")},
	{"bind-unix", "bind of an AF_UNIX socket", "bux#76; fence tests", bindUnix},
	{"pidinfo", "proc_pidinfo, proc_pidpath", "operation table; nono denies it on others", process("process-info-pidinfo")},
	{"pidfds", "proc_pidfdinfo", "operation table; inferred", process("process-info-pidfdinfo")},
	{"kill", "kill", "every profile in use", process("signal")},
	{"sysctl", "sysctl, sysctlbyname to read", "agent-sandbox.nix tests on kern.procargs2", named("sysctl-read")},
	{"lookup", "bootstrap_look_up", "SANDBOX_LORE", named("mach-lookup")},
}

// file builds the question about one path.
func file(op, at, vnode string) Query {
	if vnode == "" {
		vnode = "REGULAR-FILE"
	}
	return Query{Op: op, Path: at, VnodeType: vnode}
}

func onPath(ops ...string) func(Action) []Query {
	return func(a Action) []Query {
		qs := throughLinks(a)
		for _, op := range ops {
			qs = append(qs, file(op, a.Path, a.Type))
		}
		return qs
	}
}

func onDir(op string) func(Action) []Query {
	return func(a Action) []Query { return append(throughLinks(a), file(op, a.Path, "DIRECTORY")) }
}

// throughLinks asks for each link on the way by the link's own path: /tmp is
// read as a link before /private/tmp is looked at.
func throughLinks(a Action) []Query {
	var qs []Query
	for _, l := range a.Via {
		qs = append(qs, file("file-read-metadata", l, "SYMLINK"))
	}
	return qs
}

func stat(a Action) []Query {
	return append(throughLinks(a), file("file-read-metadata", a.Path, a.Type))
}

// realpath looks at every component of the resolved path.
func realpath(a Action) []Query {
	qs := stat(a)
	for dir := a.Path; dir != "/"; {
		dir = path.Dir(dir)
		qs = append(qs, file("file-read-metadata", dir, "DIRECTORY"))
	}
	return qs
}

// exec asks for the program itself; that of a script is asked in turn.
func exec(a Action) []Query {
	return append(throughLinks(a), file("process-exec*", a.Path, a.Type), file("file-read-data", a.Path, a.Type))
}

// rename is an unlink of the source and a creation of the destination, and
// needs no read access to either; a replaced destination is unlinked as well.
func rename(a Action) []Query {
	qs := append(throughLinks(a), file("file-write-unlink", a.Path, a.Type), file("file-write-create", a.To, a.Type))
	if a.Over {
		qs = append(qs, file("file-write-unlink", a.To, a.Type))
	}
	return qs
}

// link and clone are checked at both ends: the source by their own operation,
// the new name as any creation.
func link(op string) func(Action) []Query {
	return func(a Action) []Query {
		return append(throughLinks(a), file(op, a.Path, a.Type), file("file-write-create", a.To, a.Type))
	}
}

// cloneTree asks about the directory alone, as the least a kernel might check.
func cloneTree(a Action) []Query {
	a.Type = "DIRECTORY"
	return link("file-clone")(a)
}

func inet(a Action) Query {
	domain := "AF_INET"
	if a.Addr.Addr().Is6() {
		domain = "AF_INET6"
	}
	kind := "SOCK_STREAM"
	if a.Proto == "udp" {
		kind = "SOCK_DGRAM"
	}
	return Query{Op: "system-socket", Domain: domain, SockType: kind}
}

// connect asks for the socket first: it has no address yet.
func connect(a Action) []Query {
	return []Query{inet(a), {Op: "network-outbound", Socket: Socket{Proto: a.Proto, Remote: a.Addr}}}
}

func bind(ops ...string) func(Action) []Query {
	return func(a Action) []Query {
		qs := []Query{inet(a)}
		for _, op := range ops {
			qs = append(qs, Query{Op: op, Socket: Socket{Proto: a.Proto, Local: a.Addr}})
		}
		return qs
	}
}

// unix asks network operations by the path of the socket.
func unix(op string) func(Action) []Query {
	return func(a Action) []Query {
		return []Query{
			{Op: "system-socket", Domain: "AF_UNIX", SockType: "SOCK_STREAM"},
			{Op: op, Path: a.Path, VnodeType: "SOCKET", Socket: Socket{Unix: true}},
		}
	}
}

// bindUnix also makes the socket's name in the file system.
func bindUnix(a Action) []Query {
	return append(unix("network-bind")(a), file("file-write-create", a.Path, "SOCKET"))
}

func process(op string) func(Action) []Query {
	return func(a Action) []Query { return []Query{{Op: op, Target: a.Target}} }
}

func named(op string) func(Action) []Query {
	return func(a Action) []Query { return []Query{{Op: op, Name: a.Subject}} }
}

// ParseAction reads the notation of the fixtures: the name, then its paths or
// values, with %20 for a space. Links on the way come last, each as "via PATH";
// "over" says that the destination exists.
//
//	read /p            rename /a /b [over]      connect tcp 127.0.0.1:80
//	stat /p via /tmp   sysctl kern.procargs2    pidinfo others
func ParseAction(words []string) (Action, error) {
	a := Action{Name: words[0]}
	var rest []string
	for _, w := range words[1:] {
		rest = append(rest, strings.ReplaceAll(w, "%20", " "))
	}
	for len(rest) >= 2 && rest[len(rest)-2] == "via" {
		a.Via = append(a.Via, rest[len(rest)-1])
		rest = rest[:len(rest)-2]
	}
	if len(rest) > 0 && rest[len(rest)-1] == "over" {
		a.Over, rest = true, rest[:len(rest)-1]
	}
	want := 1
	switch a.Name {
	case "rename", "link", "clone", "clone-tree", "connect", "bind", "listen":
		want = 2
	}
	if len(rest) != want {
		return a, fmt.Errorf("action %q takes %d words", a.Name, want)
	}
	if !slices.ContainsFunc(Actions, func(r Row) bool { return r.Name == a.Name }) {
		return a, fmt.Errorf("no action %q", a.Name)
	}
	return a, a.fill(rest)
}

func (a *Action) fill(words []string) error {
	switch a.Name {
	case "connect", "bind", "listen":
		addr, err := netip.ParseAddrPort(words[1])
		a.Proto, a.Addr = words[0], addr
		return err
	case "pidinfo", "pidfds", "kill":
		a.Target = words[0]
		return nil
	case "sysctl", "lookup":
		a.Subject = words[0]
		return nil
	}
	a.Path = words[0]
	if len(words) == 2 {
		a.To = words[1]
	}
	for _, p := range words {
		if !strings.HasPrefix(p, "/") {
			return fmt.Errorf("path %q is not absolute", p)
		}
	}
	return nil
}
