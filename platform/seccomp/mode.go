package seccomp

// Bits of file modes and open flags; the same on both architectures.
const (
	setID     = 0o6000   // S_ISUID | S_ISGID
	fileType  = 0o170000 // S_IFMT
	charFile  = 0o020000 // S_IFCHR
	blockFile = 0o060000 // S_IFBLK

	// creating is O_CREAT | __O_TMPFILE. Without either the kernel ignores the
	// mode argument, and what lies in its register is chance.
	creating = 0o100 | 0o20000000
)

// modeRules keeps setuid and setgid files from being left for the host: mounts
// with nosuid hold inside the sandbox only.
func modeRules() []Rule {
	rules := make([]Rule, 0, 12)
	for _, r := range [...]struct {
		calls []Call
		mode  uint8
	}{
		{calls: []Call{sysChmod, sysFchmod, sysCreat}, mode: 1},
		{calls: []Call{sysFchmodat, sysFchmodat2}, mode: 2},
	} {
		rules = append(rules, Rule{
			Calls: r.calls, When: []Test{anyOf(r.mode, setID)},
			Action: Errno(eperm), Reason: "setuid and setgid files outlive the sandbox",
		})
	}
	for _, r := range [...]struct {
		call        Call
		flags, mode uint8
	}{
		{call: sysOpen, flags: 1, mode: 2},
		{call: sysOpenat, flags: 2, mode: 3},
	} {
		rules = append(rules, Rule{
			Calls: []Call{r.call}, When: []Test{anyOf(r.flags, creating), anyOf(r.mode, setID)},
			Action: Errno(eperm), Reason: "setuid and setgid files at creation",
		})
	}
	rules = append(rules, Rule{
		Calls:  []Call{sysOpenat2},
		Action: Errno(enosys), Reason: "its mode lies behind a pointer; callers fall back to openat",
	})
	for _, r := range [...]struct {
		call Call
		mode uint8
	}{
		{call: sysMknod, mode: 1},
		{call: sysMknodat, mode: 2},
	} {
		rules = append(rules,
			Rule{
				Calls: []Call{r.call}, When: []Test{anyOf(r.mode, setID)},
				Action: Errno(eperm), Reason: "setuid and setgid files by mknod",
			},
			Rule{
				Calls: []Call{r.call}, When: []Test{field(r.mode, fileType, charFile, blockFile)},
				Action: Errno(eperm), Reason: "device nodes, should the sandbox run as uid 0",
			})
	}
	return rules
}
