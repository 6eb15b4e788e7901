package launcher

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// mostNotes is how many notes a run gets at most: a failing build can print
// the same refusal for hundreds of files.
const mostNotes = 8

// Notes says what a caller should know about a run beyond its output: which
// limit ended it, which limits the kernel does not keep here, and, where the
// command failed, which boundary can be the cause. What the command wrote only
// leads to the questions; the answers are the policy's. A message about a path
// that the policy allows gets no note, whatever words it uses.
func Notes(plan platform.Plan, cmd Command, c Captured) []string {
	n := &noter{plan: plan, effective: plan.Effective, dir: cmd.Dir}
	if c.TimedOut {
		n.add("the command was ended after " + cmd.Timeout.String())
	}
	if c.Overrun.Any() {
		n.add(c.Overrun.String())
	}
	if c.ExitCode != 0 {
		if c.Signal == syscall.SIGSYS || c.ExitCode == 128+int(syscall.SIGSYS) {
			n.add("the system call filter ended the command (SIGSYS): it used calls of another processor architecture")
		}
		for line := range strings.Lines(c.Stderr.Content) {
			n.read(strings.TrimSpace(line))
		}
		if n.unplaced && len(n.notes) == 0 {
			n.add(n.boundary())
		}
	}
	notes := n.notes[:min(len(n.notes), mostNotes)]
	return append(notes, c.Gaps...)
}

// noter collects the notes of one run.
type noter struct {
	plan      platform.Plan
	effective policy.Effective
	dir       string // of the command, for relative paths
	notes     []string
	unplaced  bool // something was refused, and no message says where
}

func (n *noter) add(note string) {
	if note != "" && !slices.Contains(n.notes, note) {
		n.notes = append(n.notes, note)
	}
}

// boundary is what there is to say when nobody knows which path it was.
func (n *noter) boundary() string {
	e := n.effective
	return fmt.Sprintf("If the sandbox is the cause: readable paths are %s; writable paths are %s",
		orNone(e.ReadableAsWritten()), orNone(e.WritableAsWritten()))
}

func orNone(items []string) string {
	if len(items) == 0 {
		return "none"
	}
	return strings.Join(items, ", ")
}

// read looks at one line that the command wrote.
func (n *noter) read(line string) {
	lower := strings.ToLower(line)
	for _, c := range complaints {
		phrase, at := find(line, lower, c.phrases)
		if at < 0 {
			continue
		}
		if c.about == network {
			n.network()
		} else if limit := n.limit(c.about); limit != "" {
			n.add(limit)
		} else if len(lower) == len(line) { // else at is no position in line
			n.paths(c.about, pathsIn(line, at, at+len(phrase)), writes(lower))
		}
		return
	}
}

// network notes that the network is not open.
func (n *noter) network() {
	net := n.effective.Network
	if net.Mode == policy.NetworkOn {
		return
	}
	allowed := make([]string, len(net.Allow))
	for i, h := range net.Allow {
		allowed[i] = h.String()
	}
	note := (&policy.NetworkDeniedError{Mode: net.Mode, Allowed: allowed}).Error()
	if net.Mode == policy.NetworkOff {
		note += "\n--net would allow it"
	}
	n.add(note)
}

// limit words a complaint about something used up, where a limit of the policy
// bounds just that.
func (n *noter) limit(about subject) string {
	l, set := n.effective.Limits, ""
	switch {
	case about == forking && l.Processes > 0:
		set = processesLimit(l)
	case about == descriptors && l.OpenFiles > 0:
		set = fmt.Sprintf("open_files=%d", l.OpenFiles)
	case about == allocating && l.Memory > 0:
		set = memoryLimit(l)
	case about == growing && l.FileSize > 0:
		set = "file_size=" + size(l.FileSize)
	default:
		return ""
	}
	return "the command may have run into its limit " + set
}

// paths asks the policy about the places that a message names.
func (n *noter) paths(about subject, named []string, writing bool) {
	if about == refused || about == readOnly {
		n.unplaced = n.unplaced || len(named) == 0
	}
	ownSpace := about == space
	for _, name := range named {
		p, err := policy.Clean(n.absolute(name))
		switch {
		case err != nil:
		case about != space:
			n.place(about, name, p, writing)
		case strings.Contains(name, "/") && n.effective.Area.At(p).Kind != policy.Private:
			ownSpace = false // a disk of the host is full
		}
	}
	if ownSpace {
		n.full()
	}
}

func (n *noter) absolute(name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return n.dir + "/" + name
}

// place asks about one place.
func (n *noter) place(about subject, name, p string, writing bool) {
	switch {
	case about == readOnly || about == busy:
		n.verdict(policy.Write, name, p)
	case writing:
		if about != refused || n.mayBeOurs(p) {
			n.verdict(policy.Write, name, p)
		}
	case n.verdict(policy.Read, name, p):
	case about == refused && n.mayBeOurs(p):
		n.verdict(policy.Write, name, p)
	}
}

// mayBeOurs tells "Permission denied" for a readable place apart: bubblewrap
// answers a write there with another error, and where the caller has no
// permission either the file's own mode is the cause.
func (n *noter) mayBeOurs(p string) bool {
	if n.plan.Backend == platform.Bwrap && n.effective.CanRead(p) {
		return false
	}
	const w = 2 // W_OK
	r, err := policy.Resolve(p)
	if err != nil || r.Type == policy.TypeUnknown {
		return true
	}
	if r.Type == policy.TypeMissing {
		p = p[:strings.LastIndexByte(p, '/')+1]
	}
	return syscall.Access(p, w) == nil
}

// verdict notes the policy's answer if that is a refusal, and reports whether
// it is. The command's own /tmp and home are noted only where the host has
// what the command missed there.
func (n *noter) verdict(op policy.Access, name, p string) bool {
	e := n.effective
	r, d, err := e.Look(op, p)
	if err != nil || d.Allowed {
		return false
	}
	flag := e.AllowWith(op, r, d)
	if d.Entry.Kind == policy.Private && (flag == "" || op == policy.Write) {
		return true
	}
	var note string
	if op == policy.Write && e.CanRead(r.Path) {
		note = (&policy.PathNotWritableError{Path: name, Writable: e.WritableAsWritten()}).Error()
	} else {
		note = (&policy.PathNotInSandboxError{Op: op, Path: name, Boundary: boundaryFor(e, op)}).Error()
	}
	if rule := d.Entry.Rule.String(); rule != "" {
		note += fmt.Sprintf("\nReason: %s [%s]", d.Reason, rule)
	}
	if flag != "" {
		note += "\n" + flag + " would allow it"
	}
	n.add(note)
	return true
}

func boundaryFor(e policy.Effective, op policy.Access) []string {
	if op == policy.Write {
		return e.WritableAsWritten()
	}
	return e.ReadableAsWritten()
}

// full says how much the private places hold.
func (n *noter) full() {
	if n.plan.Backend != platform.Bwrap {
		return
	}
	most := n.effective.Limits.Tmp
	if most == 0 {
		most = bwrap.DefaultTmp
	}
	n.add(fmt.Sprintf("/tmp and the home of the command hold %s each; --limit tmp=SIZE changes that", size(most)))
}
