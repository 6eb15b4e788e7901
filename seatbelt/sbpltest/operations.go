package sbpltest

import "strings"

// terminal says whether an operation falls back to its parent when none of
// its own rules decides. The 10.15 tables mark some operations as ends of the
// search and give each an action; whether that is really what the kernel then
// does is open, hence Semantics.TerminalOps.
type terminal uint8

const (
	falls     terminal = iota // to the parent
	endsAllow                 // terminal, action "allow"
	endsDeny                  // terminal, action "deny"
)

// class is a set of filters that an operation accepts; libsandbox refuses a
// filter that its operation does not take.
type class uint8

const (
	takesPath    class = 1 << iota // path filters, vnode-type
	takesNetwork                   // local, remote
	takesSocket                    // socket-domain, -type, -protocol
	takesTarget                    // target
	takesMach                      // global-name, local-name
	takesSysctl                    // sysctl-name
	takesIPC                       // ipc-posix-name
	takesIOKit                     // iokit-registry-entry-class
)

type operation struct {
	name   string
	parent string
	end    terminal
	takes  class
}

// operationTable restates the 10.15 tree: "operation parent [allow|deny]",
// where the third word marks a terminal operation. Operations that sbx has no
// reason to name are left out; naming one is an error.
const operationTable = `
default -
file* default
file-chroot file*
file-clone default allow
file-ioctl file*
file-issue-extension file*
file-link default allow
file-map-executable default allow
file-mknod file*
file-mount file*
file-mount-update file-mount
file-read* file*
file-read-data file-read*
file-read-metadata file-read*
file-read-xattr file-read*
file-revoke file*
file-search file*
file-test-existence default allow
file-unmount file*
file-write* file*
file-write-acl file-write*
file-write-create file-write*
file-write-data file-write*
file-write-finderinfo file-write*
file-write-flags file-write*
file-write-mode file-write*
file-write-owner file-write*
file-write-setugid default deny
file-write-times file-write*
file-write-unlink file-write*
file-write-xattr file-write*
fs-rename default
iokit* default
iokit-open iokit*
ipc* default
ipc-posix* ipc*
ipc-posix-sem* ipc-posix*
ipc-posix-sem-create ipc-posix-sem*
ipc-posix-sem-open ipc-posix-sem*
ipc-posix-sem-post ipc-posix-sem*
ipc-posix-sem-unlink ipc-posix-sem*
ipc-posix-sem-wait ipc-posix-sem*
ipc-posix-shm* ipc-posix*
ipc-posix-shm-read-data ipc-posix-shm*
ipc-posix-shm-write* ipc-posix-shm*
ipc-posix-shm-write-create ipc-posix-shm-write*
ipc-posix-shm-write-data ipc-posix-shm-write*
ipc-posix-shm-write-unlink ipc-posix-shm-write*
ipc-sysv* ipc*
ipc-sysv-msg ipc-sysv*
ipc-sysv-sem ipc-sysv*
ipc-sysv-shm ipc-sysv*
job-creation default deny
lsopen default
appleevent-send default
mach* default
mach-lookup mach*
mach-priv* mach*
mach-priv-host-port mach-priv*
mach-priv-task-port mach-priv*
mach-register mach*
mach-task-name mach*
network* default
network-inbound network*
network-bind network-inbound
network-outbound network*
process* default
process-exec* process*
process-exec-interpreter process-exec*
process-fork process*
process-info* default allow
process-info-codesignature default allow
process-info-dirtycontrol process-info*
process-info-listpids process-info*
process-info-pidfdinfo process-info*
process-info-pidfileportinfo process-info*
process-info-pidinfo process-info*
process-info-rusage process-info*
process-info-setcontrol process-info*
pseudo-tty default
nvram* default allow
signal default
sysctl* default
sysctl-read sysctl*
sysctl-write sysctl*
system* default
system-fsctl system*
system-info system*
system-privilege default allow
system-socket system*
user-preference* default
user-preference-read user-preference*
user-preference-write user-preference*
`

// aliases are the names that sbpl_v1.scm defines on top of the table. Note
// that "sysctl-write" in a profile means reading too, and that plain
// "process-exec" is the starred operation.
var aliases = map[string]string{
	"process-exec":  "process-exec*",
	"sysctl-write":  "sysctl*",
	"ipc-posix-sem": "ipc-posix-sem*",
	"ipc-posix-shm": "ipc-posix-shm*",
	"file-unlink":   "file-write-unlink",
	"system-misc":   "system*",
	"file-fsctl":    "system-fsctl",
}

var operations = parseOperations()

func parseOperations() map[string]operation {
	table := map[string]operation{}
	for line := range strings.Lines(operationTable) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		op := operation{name: words[0], parent: words[1], takes: filtersOf(words[0])}
		if len(words) == 3 {
			op.end = endsDeny
			if words[2] == "allow" {
				op.end = endsAllow
			}
		}
		table[op.name] = op
	}
	return table
}

// filtersOf gives the filters that an operation takes. The 10.15 table lists
// "target" for most process-info operations but not for the starred one;
// Apple's and others' shipped profiles filter the starred one by target, so
// it is accepted here.
func filtersOf(op string) class {
	switch {
	case op == "mach-lookup" || op == "mach-register":
		return takesMach
	case op == "system-socket":
		return takesSocket
	case op == "signal", op == "mach-priv-task-port", op == "mach-task-name":
		return takesTarget
	case strings.HasPrefix(op, "file"), strings.HasPrefix(op, "process-exec"):
		return takesPath
	case strings.HasPrefix(op, "network"):
		return takesPath | takesNetwork | takesSocket
	case strings.HasPrefix(op, "process-info"):
		return takesTarget
	case strings.HasPrefix(op, "sysctl"):
		return takesSysctl
	case strings.HasPrefix(op, "ipc-posix"):
		return takesIPC
	case strings.HasPrefix(op, "iokit"):
		return takesIOKit
	}
	return 0
}

// chain returns the operations that a search visits from name on, itself
// first. "default" is last when all fall through.
func chain(name string) []operation {
	var visited []operation
	for {
		op := operations[name]
		visited = append(visited, op)
		if op.parent == "-" {
			return visited
		}
		name = op.parent
	}
}

// canonicalOperation resolves an alias, and reports whether the name is known.
func canonicalOperation(name string) (string, bool) {
	if to, ok := aliases[name]; ok {
		return to, true
	}
	_, ok := operations[name]
	return name, ok
}

// Operations returns every operation that a profile may name.
func Operations() []string {
	names := make([]string, 0, len(operations))
	for name := range operations {
		names = append(names, name)
	}
	return names
}
