package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

// policyFlags are the flags that say which policy is meant. Every verb that
// asks about a policy takes the same ones.
type policyFlags struct {
	set        *pflag.FlagSet
	config     string
	worker     string
	ro, rw     []string
	deny       []string
	system     string
	protect    string
	presets    []string
	net        []string
	env        []string
	limits     []string
	restrict   string
	readonly   bool
	allowRead  []string
	allowWrite []string
	inherit    bool
	session    string   // run and workspace only
	attach     []string // run only
	starts     bool     // a command will be started, not only asked about
}

func (f *policyFlags) register(cmd *cobra.Command) {
	s := cmd.Flags()
	f.set = s
	s.StringVar(&f.config, "config", "", "policy `FILE`; without it the nearest sbx.yaml upward, if any")
	s.StringVar(&f.worker, "worker", "", "narrow to the worker `NAME` of the policy, or to a .worker file")
	repeatable(s, &f.ro, "ro", "let the command read `PATH` (repeatable)")
	repeatable(s, &f.rw, "rw", "let the command read and write `PATH` (repeatable)")
	repeatable(s, &f.deny, "deny", "hide what matches `PATTERN`, whatever else grants it (repeatable)")
	s.StringVar(&f.system, "system", "", "system `BASE`: minimal, host or none")
	s.StringVar(&f.protect, "protect", "", "files that tools run by themselves: existing (read-only) or strict (not made either)")
	repeatable(s, &f.presets, "preset", "grant what the tool chain `NAME` needs: go, git, node, python, rust (repeatable)")
	repeatable(s, &f.net, "net", "leave the network `on`; --net=off turns it off (repeatable: --net=HOST[:PORT])")
	s.Lookup("net").NoOptDefVal = "on"
	repeatable(s, &f.env, "env", "pass the variable `NAME`, or set NAME=VALUE (repeatable)")
	repeatable(s, &f.limits, "limit", "bound a resource: `NAME=VALUE`, such as processes=64, file_size=1GiB (repeatable)")
	s.StringVar(&f.restrict, "restrict", "", "keep only what lies below the sandbox `PATH`")
	s.BoolVar(&f.readonly, "readonly", false, "take all write access away")
	repeatable(s, &f.allowRead, "allow-read", "keep read access to the sandbox `PATH` only (repeatable)")
	repeatable(s, &f.allowWrite, "allow-write", "keep write access to the sandbox `PATH` only (repeatable)")
	s.BoolVar(&f.inherit, "inherit", false, "start the narrowing from all that the policy grants")
	complete(cmd)
}

// repeatable adds a flag that may be given several times, each time with one
// value.
func repeatable(s *pflag.FlagSet, to *[]string, name, usage string) {
	s.Var((*repeated)(to), name, usage)
}

// repeated is pflag's string array without the CSV writer by which that words
// its default: 4 KiB for each flag of each start.
type repeated []string

func (r *repeated) Set(value string) error {
	*r = append(*r, value)
	return nil
}

func (r *repeated) Type() string   { return "stringArray" }
func (r *repeated) String() string { return strings.Join(*r, ", ") }

// complete offers values where a flag has a fixed set of them.
func complete(cmd *cobra.Command) {
	fixed := func(values ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	for name, f := range map[string]cobra.CompletionFunc{
		"system":  fixed("minimal", "host", "none"),
		"protect": fixed("existing", "strict"),
		"preset":  fixed("go", "git", "node", "python", "rust"),
	} {
		if err := cmd.RegisterFlagCompletionFunc(name, f); err != nil {
			panic(err) // a flag of this name was registered above
		}
	}
}

func (f *policyFlags) flags() config.Flags {
	flags := config.Flags{
		Config: f.config, Worker: f.worker,
		RO: f.ro, RW: f.rw, Deny: f.deny,
		System: f.system, Protect: f.protect, Presets: f.presets, Net: f.net, Env: f.env, Limits: f.limits,
		Derive: config.Derive{
			Restrict: f.restrict,
			Readonly: f.given("readonly", f.readonly),
			Inherit:  f.inherit,
		},
	}
	if f.set.Changed("allow-read") {
		flags.Derive.AllowRead = listOf(f.allowRead)
	}
	if f.set.Changed("allow-write") {
		flags.Derive.AllowWrite = listOf(f.allowWrite)
	}
	return flags
}

func (f *policyFlags) given(name string, value bool) *bool {
	if !f.set.Changed(name) {
		return nil
	}
	return &value
}

// listOf drops the empty text by which "--allow-read=" names the empty list.
func listOf(items []string) []string {
	kept := []string{}
	for _, item := range items {
		if item != "" {
			kept = append(kept, item)
		}
	}
	return kept
}

// surroundings reads what a policy may depend on outside of files.
func surroundings() (config.Host, error) {
	cwd, err := workingDirectory()
	if err != nil {
		return config.Host{}, err
	}
	home, err := homeDirectory()
	if err != nil {
		return config.Host{}, err
	}
	return withApprovals(config.Host{
		Places:   policy.Places{Home: home, Cwd: cwd, Own: ownDirectories(home)},
		Env:      os.LookupEnv,
		UserFile: userFile(home),
	}), nil
}

// workingDirectory is the kernel's word, not that of PWD, which may name a
// link.
func workingDirectory() (string, error) {
	cwd, err := syscall.Getwd()
	if err != nil || !strings.HasPrefix(cwd, "/") {
		return "", errors.New("the current directory no longer exists; change to another one first")
	}
	return cwd, nil
}

// homeDirectory returns the canonical home, or "" for users without one.
func homeDirectory() (string, error) {
	home := os.Getenv("HOME")
	if home == "" || home == "/" {
		return "", nil
	}
	if !strings.HasPrefix(home, "/") {
		return "", fmt.Errorf("HOME is %q, which is not an absolute path", home)
	}
	r, err := policy.Resolve(home)
	return r.Path, err
}

func userFile(home string) string {
	dir := configDirectory(home)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "config.yaml")
}

func configDirectory(home string) string { return xdg("XDG_CONFIG_HOME", home, ".config") }
func cacheDirectory(home string) string  { return xdg("XDG_CACHE_HOME", home, ".cache") }
func stateDirectory(home string) string  { return xdg("XDG_STATE_HOME", home, ".local/state") }

// xdg returns sbx's directory of one kind, or "" where there is no home.
func xdg(variable, home, otherwise string) string {
	if dir := os.Getenv(variable); strings.HasPrefix(dir, "/") {
		return filepath.Join(dir, "sbx")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, otherwise, "sbx")
}

// ownDirectories are where sbx keeps what steers later runs.
func ownDirectories(home string) []string {
	own := policy.OwnPaths(home)
	for _, dir := range []string{configDirectory(home), cacheDirectory(home), stateDirectory(home), runtimeDirectory()} {
		if dir != "" && !slices.Contains(own, dir) {
			own = append(own, dir)
		}
	}
	return own
}
