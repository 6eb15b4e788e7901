package config

import "github.com/sbx-run/sbx/policy"

// Kind is the role of a file, which decides the keys that it may hold.
type Kind uint8

// The kinds of files. Project: sbx.yaml, or whatever --config names. Program:
// program.yaml, of which only the sandbox key is ours. User: the user's own
// defaults, the only one with a workspace. WorkerDefinition: a *.worker file,
// which DecodeWorker reads.
const (
	Project Kind = iota
	Program
	User
	WorkerDefinition
)

// Config is a file, decoded and free of faults that show without the host.
// Nothing is resolved: roots and patterns stand as written.
type Config struct {
	Kind        Kind
	Sandbox     *Sandbox // nil: the file has none, and grants nothing
	Workers     Workers
	Attachments *Attachments
	Workspace   *Workspace

	// Doubts are keys of a program file that are not ours and look as if
	// they were meant to be.
	Doubts []Value[string]
}

// Sandbox is the sandbox block. Exactly one of Root and Paths is given,
// except in a user file, where both may be missing.
type Sandbox struct {
	Pos
	Root        *Mount                   // root form; nil where paths is given
	Paths       []Mount                  // path form, in file order
	PathsAt     Pos                      // given even if paths is empty
	Readonly    Value[bool]              // default false; true binds every mount
	Deny        []Value[string]          // patterns as written
	System      Value[policy.SystemBase] // default minimal
	Presets     []Value[string]          // known names, each once
	Network     Network                  // default off
	Env         Env
	Limits      Limits
	RequireOS   Value[bool] // default true: no kernel enforcement, no run
	Dynamic     Value[bool] // default false: nothing is granted while the command runs
	UnixSockets UnixSockets
	Protect     Value[Protect] // default existing
}

// Mount is one entry of paths, or the root of the root form (Name "/").
type Mount struct {
	Pos
	Name          string
	Root          Value[string]      // as written: relative to the file's directory, "~" is the home
	Mode          Value[policy.Mode] // default ro; the root form has Readonly instead
	Readonly      Value[bool]        // root form only; default false
	Suffixes      []Value[string]    // each from its dot on; none allows all names
	MaxFileBytes  Value[int64]       // default 0: no limit
	ReadApproval  Value[bool]        // default false
	WriteApproval Value[bool]        // default true
	Optional      Value[bool]        // default false: a missing root is an error
}

// Network is the network key in one of its forms.
type Network struct {
	Pos
	Mode        policy.NetworkMode
	Allow, Deny []Value[policy.HostRule] // with NetworkList alone; deny wins
}

// Env says which variables reach the command.
type Env struct {
	Pos
	Pass []Value[string] // names, or patterns with "*"
	Set  []Variable
}

// Variable is one entry of env.set.
type Variable struct {
	Pos
	Name, Value string
}

// Limits is the limits block.
type Limits struct {
	Pos
	policy.Limits
}

// UnixSockets says which unix sockets a command may use: its own, if the key
// is given at all, and those of the host that Paths lists.
type UnixSockets struct {
	Pos
	Paths []Value[string]
}

// Protect says what happens to files that other tools act on and that do not
// exist yet.
type Protect uint8

// Existing: files that exist are read-only, others are reported after the
// run. Strict: the others cannot be created either.
const (
	ProtectExisting Protect = iota
	ProtectStrict
)

// String gives the spelling of the configuration.
func (p Protect) String() string { return protectNames[p] }

// protectNames are in the order of the Protect values.
var protectNames = [...]string{"existing", "strict"}

// Workers is the workers block.
type Workers struct {
	Pos
	List []Worker // in file order
}

// Worker is a narrowing of the program's sandbox. Lists are nil where they
// are not given, and empty where they are given as such.
type Worker struct {
	Pos
	Name       string
	Restrict   Value[string] // sandbox path; applied before the lists
	Readonly   Value[bool]   // false asks for writes, which a read-only program refuses
	Inherit    Value[bool]   // true: start with all of the program's access
	AllowRead  *Strings      // sandbox paths
	AllowWrite *Strings      // sandbox paths; readable too where AllowRead is nil
	Deny       []Value[string]
	Network    Network
	Limits     Limits
}

// Strings is a list that may be empty.
type Strings struct {
	Pos
	Items []Value[string]
}

// Attachments bounds the files that a caller hands on. Zero is no limit.
type Attachments struct {
	Pos
	MaxCount Value[int64]
	MaxBytes Value[int64] // of all attachments together
	Suffixes []Value[string]
}

// Workspace is the user's workspace: ordered rules, of which the first match
// wins. The root is the first rule.
type Workspace struct {
	Pos
	Root    Value[string]
	Mode    Value[policy.Mode] // default ro
	Enabled Value[bool]        // default true
	Allow   []WorkspaceRule
}

// WorkspaceRule is one entry of workspace.allow.
type WorkspaceRule struct {
	Pos
	Path Value[string]
	Mode Value[policy.Mode] // default ro
}
