package config_test

import (
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

// mounts gives name, root and mode of all mounts, roots relative to dir.
func mounts(l config.Loaded, dir string) []string {
	var all []string
	for _, m := range l.Sandbox.Effective().Mounts {
		all = append(all, m.Name+" "+strings.TrimPrefix(m.Root, dir)+" "+m.Mode.String())
	}
	return all
}

func TestMounts(t *testing.T) {
	for name, tt := range map[string]struct {
		file  string
		flags config.Flags
		want  []string
	}{
		"root form":              {file: "root: .", want: []string{"/ /p rw"}},
		"root form, readonly":    {file: "root: ., readonly: true", want: []string{"/ /p ro"}},
		"root form, inside":      {file: "root: {path: ./src, readonly: true}", want: []string{"/ /p/src ro"}},
		"readonly binds all":     {file: "paths: {src: {root: ./src, mode: rw}, doc: {root: ./doc, mode: ro}}, readonly: true", want: []string{"src /p/src ro", "doc /p/doc ro"}},
		"mode":                   {file: "paths: {src: {root: ./src, mode: rw}, doc: {root: ./doc}}", want: []string{"src /p/src rw", "doc /p/doc ro"}},
		"a file":                 {file: "paths: {one: {root: src/main.c, mode: rw}}", want: []string{"one /p/src/main.c rw"}},
		"optional, missing":      {file: "paths: {one: {root: ./nope, optional: true}, src: {root: ./src}}", want: []string{"src /p/src ro"}},
		"home":                   {file: "paths: {one: {root: ~/notes}, all: {root: '~'}}", want: []string{"one /home/notes ro", "all /home ro"}},
		"up and down":            {file: "paths: {one: {root: ../p/./src/}}", want: []string{"one /p/src ro"}},
		"flag: here":             {flags: config.Flags{RW: []string{"."}}, want: []string{" /p rw"}},
		"flag: name":             {flags: config.Flags{RO: []string{"./src", "doc"}}, want: []string{"src /p/src ro", "doc /p/doc ro"}},
		"flag: name is taken":    {file: "paths: {src: {root: ./doc}}", flags: config.Flags{RO: []string{"src"}}, want: []string{"src /p/doc ro", " /p/src ro"}},
		"flag: name is no name":  {flags: config.Flags{RO: []string{"with space"}}, want: []string{" /p/with space ro"}},
		"flag: root form":        {file: "root: ./doc", flags: config.Flags{RO: []string{"src"}}, want: []string{"/ /p/doc rw", " /p/src ro"}},
		"flag: widens a file's":  {file: "paths: {mine: {root: ./src}}", flags: config.Flags{RW: []string{"./src"}}, want: []string{"mine /p/src rw"}},
		"flag: never narrows":    {file: "paths: {mine: {root: ./src, mode: rw}}", flags: config.Flags{RO: []string{"./src"}}, want: []string{"mine /p/src rw"}},
		"flags: joined":          {flags: config.Flags{RO: []string{"./src", "src"}, RW: []string{"src/"}}, want: []string{"src /p/src rw"}},
		"flag inside a file's":   {file: "root: .", flags: config.Flags{RO: []string{"./src"}}, want: []string{"/ /p rw", " /p/src ro"}},
		"flag: home by its name": {flags: config.Flags{RO: []string{"~/notes"}}, want: []string{"notes /home/notes ro"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{
				"p/src/main.c": "", "p/doc/": "", "p/with space/": "", "home/notes/": "",
			})
			if tt.file != "" {
				require.NoError(t, os.WriteFile(dir+"/p/c.yaml", []byte("sandbox: {"+tt.file+"}\n"), 0o644))
				tt.flags.Config = "c.yaml"
			}
			l, err := config.Load(tt.flags, hostAt(dir+"/p", dir+"/home", nil))
			require.NoError(t, err)
			assert.Equal(t, tt.want, mounts(l, dir))
		})
	}
}

func TestRulesNameTheirSource(t *testing.T) {
	dir := tree(t, map[string]string{"c.yaml": "sandbox:\n  paths:\n    src:\n      root: ./src\n  deny: [b, ./src/secret]\n", "src/secret": "", "out/": ""})
	l, err := config.Load(config.Flags{Config: "c.yaml", RW: []string{"./out"}, Deny: []string{"./out/x"}}, hostAt(dir, "", nil))
	require.NoError(t, err)
	e := l.Sandbox.Effective()
	assert.Equal(t, "c.yaml:4", e.Decide(policy.Read, dir+"/src/a").Entry.Rule.String())
	assert.Equal(t, "path src: ./src", e.Decide(policy.Read, dir+"/src/a").Entry.Rule.Text)
	assert.Equal(t, "c.yaml:5", e.Decide(policy.Read, dir+"/src/b").Entry.Rule.String())
	assert.Equal(t, "c.yaml:5", e.Decide(policy.Read, dir+"/src/secret").Entry.Rule.String())
	assert.Equal(t, "--rw ./out", e.Decide(policy.Write, dir+"/out/a").Entry.Rule.String())
	assert.Equal(t, "--deny ./out/x", e.Decide(policy.Write, dir+"/out/x").Entry.Rule.String())
	assert.Equal(t, []string{"c.yaml", "--rw ./out", "--deny ./out/x"}, e.Sources)
}

func TestMountAttributes(t *testing.T) {
	dir := tree(t, map[string]string{"c.yaml": "sandbox: {paths: {src: {root: ./src, suffixes: [.md, .PDF], max_file_bytes: 1MiB, read_approval: true, write_approval: false}, doc: {root: ./doc}}}\n", "src/": "", "doc/": ""})
	l, err := config.Load(config.Flags{Config: "c.yaml", RW: []string{"src"}}, hostAt(dir, "", nil))
	require.NoError(t, err)
	m := l.Sandbox.Effective().Mounts
	assert.Equal(t, policy.Mount{
		Name: "src", Root: dir + "/src", Written: "./src", Mode: policy.ReadAndWrite, Type: policy.TypeDir,
		Suffixes: []string{".md", ".PDF"}, MaxFileBytes: 1 << 20, ReadApproval: true,
		Rule: policy.Rule{Text: "--rw src"},
	}, m[0])
	assert.True(t, m[1].WriteApproval)
}

// Every faulty root is reported, in the order of the file, then of the flags.
func TestFaultyRoots(t *testing.T) {
	for name, tt := range map[string]struct {
		file  string
		flags config.Flags
		want  []string
	}{
		"root form, file": {file: "root: src/main.c", want: []string{"c.yaml:1:17: src/main.c is a file: the root form takes a directory | write paths: {name: {root: src/main.c}}"}},
		"missing":         {file: "root: ./nope", want: []string{"c.yaml:1:17: ./nope does not exist | create it first"}},
		"missing, paths":  {file: "paths: {one: {root: ./nope}}", want: []string{"c.yaml:1:31: ./nope does not exist | create it, or add optional: true"}},
		"near":            {file: "root: ./scr", want: []string{"c.yaml:1:17: ./scr does not exist | did you mean ./src?"}},
		"near, deeper":    {file: "root: ./scr/deep/er", want: []string{"c.yaml:1:17: ./scr/deep/er does not exist | did you mean ./src/deep/er?"}},
		"near, case":      {flags: config.Flags{RO: []string{"SRC"}}, want: []string{"--ro SRC: SRC does not exist | did you mean src?"}},
		"same root":       {file: "paths: {one: {root: ./src}, two: {root: src/.}}", want: []string{`c.yaml:1:51: mount "two" has the same root as "one" in line 1 | keep one of them`}},
		"link":            {file: "root: ./link", want: []string{"c.yaml:1:17: ./link leads through the symbolic link $DIR/p/link to $DIR/p/src | name the target itself if that is what you mean: $DIR/p/src"}},
		"link, optional":  {file: "paths: {one: {root: ./link, optional: true}}", want: []string{"c.yaml:1:31: ./link leads through the symbolic link $DIR/p/link to $DIR/p/src | name the target itself if that is what you mean: $DIR/p/src"}},
		"link by a flag":  {flags: config.Flags{RW: []string{"link/x"}}, want: []string{"--rw link/x: link/x leads through the symbolic link $DIR/p/link to $DIR/p/src/x | name the target itself if that is what you mean: $DIR/p/src/x"}},
		"below a file":    {file: "root: ./src/main.c/x", want: []string{"c.yaml:1:17: ./src/main.c/x: not a directory | "}},
		"loop":            {flags: config.Flags{RO: []string{"loop"}}, want: []string{"--ro loop: loop: too many levels of symbolic links | "}},
		"socket":          {flags: config.Flags{RO: []string{"sock"}}, want: []string{"--ro sock: sock is a socket: sockets of the host are not granted as paths | list it under unix_sockets"}},
		"proc":            {flags: config.Flags{RO: []string{"/proc/self"}}, want: []string{"--ro /proc/self: /proc/self leads through the symbolic link /proc/self to *"}},
		"proc itself":     {flags: config.Flags{RW: []string{"/proc/sys"}}, want: []string{"--rw /proc/sys: /proc/sys belongs to the sandbox | remove it: the command has a /proc of its own"}},
		"empty":           {flags: config.Flags{RO: []string{""}}, want: []string{"--ro '': an empty path | "}},
		"NUL":             {flags: config.Flags{RO: []string{"a\x00b"}}, want: []string{`--ro "a\x00b": a path with a NUL | `}},
		"no home":         {file: "root: ~/x", want: []string{"c.yaml:1:17: there is no home for ~ to stand for | set HOME, or write the path itself"}},
		"escapes are spelled": {
			file: `root: "./a\e[31m"`, want: []string{`c.yaml:1:17: "./a\x1b[31m" does not exist | create it first`},
		},
		"all at once": {
			file:  "paths: {one: {root: ./nope}, two: {root: ./src}, three: {root: ./src}}",
			flags: config.Flags{RO: []string{"./none"}, Deny: []string{"["}, Presets: []string{"goo"}, System: "hots", Net: []string{"a b"}, Limits: []string{"mem=1"}, Env: []string{"A-B"}},
			want: []string{
				"c.yaml:1:31: ./nope does not exist | create it, or add optional: true",
				`c.yaml:1:74: mount "three" has the same root as "two" in line 1 | keep one of them`,
				"--ro ./none: ./none does not exist | create it first",
				"--deny '[': *",
				`--preset goo: unknown preset "goo" | did you mean go?`,
				`--system: want minimal, host or none, got "hots" | did you mean host?`,
				"--net 'a b': *",
				`--env A-B: not the name of a variable: "A-B" | `,
				`--limit mem=1: unknown limit "mem" | did you mean memory?`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{"p/src/main.c": ""})
			require.NoError(t, os.Symlink("src", dir+"/p/link"))
			require.NoError(t, os.Symlink("loop", dir+"/p/loop"))
			listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: dir + "/p/sock"})
			require.NoError(t, err)
			defer listener.Close()
			if tt.file != "" {
				require.NoError(t, os.WriteFile(dir+"/p/c.yaml", []byte("sandbox: {"+tt.file+"}\n"), 0o644))
				tt.flags.Config = "c.yaml"
			}
			_, err = config.Load(tt.flags, hostAt(dir+"/p", "", nil))
			var faults *config.FaultsError
			require.ErrorAs(t, err, &faults)
			var got []string
			for _, f := range faults.Faults {
				got = append(got, strings.ReplaceAll(f.Error()+" | "+f.Fix, dir, "$DIR"))
			}
			require.Len(t, got, len(tt.want), "%q", got)
			for i, want := range tt.want {
				if begin, ok := strings.CutSuffix(want, "*"); ok {
					assert.True(t, strings.HasPrefix(got[i], begin), got[i])
					continue
				}
				assert.Equal(t, want, got[i])
			}
		})
	}
}

// The typed errors behind a fault stay visible.
func TestCausesOfFaults(t *testing.T) {
	dir := tree(t, map[string]string{"src/": "", "c.yaml": "sandbox: {paths: {one: {root: ./link}, two: {root: ./src}, three: {root: ./src}}}\n"})
	require.NoError(t, os.Symlink("src", dir+"/link"))
	_, err := config.Load(config.Flags{Config: "c.yaml"}, hostAt(dir, "", nil))
	var linked *policy.LinkedRootError
	require.ErrorAs(t, err, &linked)
	assert.Equal(t, dir+"/src", linked.Target)
	var twice *policy.DuplicateRootError
	require.ErrorAs(t, err, &twice)
	assert.Equal(t, "three", twice.Second.Name)
	var fault *policy.ConfigError
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, 1, fault.Line)
}

// The kernel holds the working directory whatever links led there.
func TestRootBelowLinkedWorkingDirectory(t *testing.T) {
	dir := tree(t, map[string]string{"real/src/": ""})
	require.NoError(t, os.Symlink("real", dir+"/link"))
	l, err := config.Load(config.Flags{RW: []string{dir + "/link"}}, hostAt(dir+"/real", "", nil))
	require.NoError(t, err)
	assert.Equal(t, []string{dir + "/real"}, l.Sandbox.Effective().Writable())
}

func TestDeletedWorkingDirectory(t *testing.T) {
	dir := tree(t, map[string]string{"src/": ""})
	host := hostAt("", "", nil)
	l, err := config.Load(config.Flags{RO: []string{dir + "/src"}, Deny: []string{"*.pem"}}, host)
	require.NoError(t, err, "nothing counts from it")
	assert.Equal(t, []string{dir + "/src"}, l.Sandbox.Effective().Readable())
	for _, flags := range []config.Flags{{RO: []string{"."}}, {Deny: []string{"./x"}}, {Config: "c.yaml"}} {
		_, err := config.Load(flags, host)
		assert.ErrorContains(t, err, "the working directory is gone")
	}
}

func TestFlagsOfOtherKinds(t *testing.T) {
	dir := tree(t, map[string]string{"c.yaml": "sandbox: {root: ., system: none, limits: {timeout: 30s, memory: 1GiB}, env: {pass: [CI, A], set: {LANG: C, B: b}}}\n"})
	yes := true
	l, err := config.Load(config.Flags{
		Config: "c.yaml", System: "host", Net: []string{"on"}, Limits: []string{"timeout=5m", "output=10"},
		Env:    []string{"A=1", "B", "C=x=y", "LANG"},
		Derive: config.Derive{Restrict: "/src", Readonly: &yes, AllowRead: []string{}},
	}, hostAt(dir, "", nil))
	require.NoError(t, err)
	e := l.Sandbox.Effective()
	assert.Equal(t, policy.HostSystem, e.System)
	assert.Equal(t, policy.NetworkOn, e.Network.Mode)
	assert.Equal(t, "--net on", e.Network.Rule.String())
	assert.Equal(t, "5m0s", e.Limits.Timeout.String())
	assert.Equal(t, int64(1<<30), e.Limits.Memory)
	assert.Equal(t, int64(10), e.Limits.Output)
	assert.Equal(t, []string{"CI", "B", "LANG"}, e.Env.Pass, "what is said last counts")
	assert.Equal(t, []policy.Variable{{Name: "A", Value: "1"}, {Name: "C", Value: "x=y"}}, e.Env.Set)
	assert.True(t, l.Derive.Given())
	assert.Equal(t, "/src", l.Derive.Restrict)
	for _, s := range e.Sources {
		assert.NotContains(t, s, "x=y", "values may be secrets")
	}
}
