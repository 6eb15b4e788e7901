package config

import "github.com/sbx-run/sbx/policy"

// Kind is the role of a file, which decides the keys that it may hold.
type Kind uint8

// The kinds of files. Project: sbx.yaml, or whatever --config names. Program:
// program.yaml, of which only the sandbox key is ours. User: the user's own
// defaults, the only one with a workspace.
const (
	Project Kind = iota
	Program
	User
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
	Root        *Mount // root form
	Paths       []Mount
	PathsAt     Pos
	Readonly    Value[bool]
	Deny        []Value[string]
	System      Value[policy.SystemBase]
	Presets     []Value[string]
	Network     Network
	Env         Env
	Limits      Limits
	RequireOS   Value[bool] // default true
	Dynamic     Value[bool]
	UnixSockets UnixSockets
	Protect     Value[Protect]
}

// Mount is one entry of paths, or the root of the root form (Name "/").
type Mount struct {
	Pos
	Name          string
	Root          Value[string]
	Mode          Value[policy.Mode] // default ro
	Readonly      Value[bool]        // root form only
	Suffixes      []Value[string]
	MaxFileBytes  Value[int64]
	ReadApproval  Value[bool] // default false
	WriteApproval Value[bool] // default true
	Optional      Value[bool]
}

// Network is the network key in one of its forms.
type Network struct {
	Pos
	Mode        policy.NetworkMode
	Allow, Deny []Value[policy.HostRule]
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

// UnixSockets is the list of sockets of the host that a command may connect
// to. Private, the default, is none.
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
	Restrict   Value[string]
	Readonly   Value[bool]
	Inherit    Value[bool]
	AllowRead  *Strings
	AllowWrite *Strings
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
