package config_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

const ownRoot = "sandbox: {root: .}\n"

// Each row removes the file that won the row above.
func TestPrecedence(t *testing.T) {
	dir := tree(t, map[string]string{
		"flag.yaml": ownRoot, "env.yaml": ownRoot, "user/config.yaml": "sandbox: {presets: git}\n",
		"top/sbx.yaml": ownRoot, "top/program.yaml": ownRoot, "top/mid/program.yaml": ownRoot, "top/mid/cwd/": "",
	})
	cwd := dir + "/top/mid/cwd"
	flags := config.Flags{Config: dir + "/flag.yaml"}
	host := hostAt(cwd, dir+"/home", map[string]string{"SBX_CONFIG": "../../../env.yaml"})
	host.UserFile = dir + "/user/config.yaml"

	for _, step := range []struct {
		name, want string
		drop       func()
	}{
		{"--config", dir + "/flag.yaml", func() { flags.Config = "" }},
		{"SBX_CONFIG", dir + "/env.yaml", func() { host.Env = nil }},
		{"nearest upward", dir + "/top/mid/program.yaml", func() { remove(t, dir+"/top/mid/program.yaml") }},
		{"sbx.yaml before program.yaml", dir + "/top/sbx.yaml", func() { remove(t, dir+"/top/sbx.yaml") }},
		{"program.yaml", dir + "/top/program.yaml", func() { remove(t, dir+"/top/program.yaml") }},
		{"the user's file", dir + "/user/config.yaml", func() { remove(t, dir+"/user/config.yaml") }},
	} {
		l, err := config.Load(flags, host)
		require.NoError(t, err, step.name)
		require.Len(t, l.Sources, 1, step.name)
		assert.Equal(t, step.want, l.Sources[0].Path, step.name)
		step.drop()
	}
	l, err := config.Load(flags, host)
	require.NoError(t, err)
	assert.Empty(t, l.Sources)
	assert.Empty(t, l.Sandbox.Effective().Readable(), "no file and no flag grants nothing")
}

func remove(t *testing.T, file string) { require.NoError(t, os.Remove(file)) }

func TestSources(t *testing.T) {
	const text = ownRoot
	sum := sha256.Sum256([]byte(text))
	dir := tree(t, map[string]string{"sbx.yaml": text, "sub/": ""})
	require.NoError(t, os.Symlink("sbx.yaml", dir+"/link.yaml"))

	for name, tt := range map[string]struct {
		flag, cwd, source string
		discovered        bool
		links             []string
	}{
		"discovered here":  {cwd: dir, source: "sbx.yaml", discovered: true},
		"discovered above": {cwd: dir + "/sub", source: dir + "/sbx.yaml", discovered: true},
		"named":            {flag: "../sbx.yaml", cwd: dir + "/sub", source: "../sbx.yaml"},
		"named by a link":  {flag: "link.yaml", cwd: dir, source: "link.yaml", links: []string{dir + "/link.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := config.Load(config.Flags{Config: tt.flag}, hostAt(tt.cwd, "", nil))
			require.NoError(t, err)
			s := l.Sources[0]
			assert.Equal(t, tt.source, s.Name)
			assert.Equal(t, dir+"/sbx.yaml", s.Path)
			assert.Equal(t, tt.discovered, s.Discovered)
			assert.Equal(t, tt.links, s.Links)
			assert.Equal(t, hex.EncodeToString(sum[:]), s.SHA256)
			e := l.Sandbox.Effective()
			assert.Equal(t, []string{dir}, e.Writable(), "roots count from the file's directory")
			assert.False(t, e.CanWrite(dir+"/sbx.yaml"), "the policy file stays as it is")
			assert.True(t, e.CanWrite(dir+"/other.yaml"))
		})
	}
}

func TestFilesThatAreNotRead(t *testing.T) {
	outside := tree(t, map[string]string{"sbx.yaml": ownRoot})
	for name, tt := range map[string]struct {
		files map[string]string
		link  bool
		flags config.Flags
		env   map[string]string
		want  string
	}{
		"discovered link":      {link: true, want: "sbx.yaml: not a regular file"},
		"discovered directory": {files: map[string]string{"sbx.yaml/x": ""}, want: "sbx.yaml: not a regular file"},
		"named, missing":       {flags: config.Flags{Config: "nope.yaml"}, want: "nope.yaml: cannot read the configuration: no such file or directory"},
		"named, directory":     {files: map[string]string{"d/": ""}, flags: config.Flags{Config: "d"}, want: "d: cannot read the configuration: is a directory"},
		"SBX_CONFIG, missing":  {env: map[string]string{"SBX_CONFIG": "/nope/x"}, want: "/nope/x: cannot read the configuration: no such file or directory"},
		"faulty":               {files: map[string]string{"sbx.yaml": "sandbx: 1\n"}, want: `sbx.yaml:1:1: unknown key "sandbx"`},
		"too large":            {files: map[string]string{"sbx.yaml": string(make([]byte, 1<<20+1))}, want: "sbx.yaml:1:1: larger than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, tt.files)
			if tt.link {
				require.NoError(t, os.Symlink(outside+"/sbx.yaml", dir+"/sbx.yaml"))
			}
			_, err := config.Load(tt.flags, hostAt(dir, "", tt.env))
			var fault *policy.ConfigError
			require.ErrorAs(t, err, &fault)
			assert.Equal(t, tt.want, err.Error())
		})
	}
}

func TestWarningsOfFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"other spelling":         {map[string]string{"sbx.yml": ownRoot}, "sbx.yml is not read"},
		"program without":        {map[string]string{"program.yaml": "name: x\n"}, "program.yaml has no sandbox: it grants nothing"},
		"program, nearly ours":   {map[string]string{"program.yaml": "sandbox: {root: .}\nsandboxes: {}\n"}, `program.yaml:2: key "sandboxes" is not read by sbx`},
		"program with one of it": {map[string]string{"program.yaml": ownRoot}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := config.Load(config.Flags{}, hostAt(tree(t, tt.files), "", nil))
			require.NoError(t, err)
			if tt.want == "" {
				assert.Empty(t, l.Warnings)
				return
			}
			require.Len(t, l.Warnings, 1)
			assert.Equal(t, tt.want, l.Warnings[0].Message)
			assert.NotEmpty(t, l.Warnings[0].Fix)
		})
	}
}

func TestNotAvailableYet(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		flags config.Flags
		env   map[string]string
		want  string
	}{
		"dynamic":        {text: "sandbox: {root: ., dynamic: true}\n", want: "sbx.yaml:1:29: dynamic: true is not available yet"},
		"protect":        {text: "sandbox: {root: ., protect: strict}\n"},
		"dynamic: false": {text: "sandbox: {root: ., dynamic: false, protect: existing}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{"sbx.yaml": tt.text})
			_, err := config.Load(tt.flags, hostAt(dir, "", tt.env))
			if tt.want == "" {
				assert.NoError(t, err)
				return
			}
			var notYet *config.NotAvailableError
			require.ErrorAs(t, err, &notYet)
			assert.Equal(t, tt.want, err.Error())
			assert.NotEmpty(t, notYet.Hint())
		})
	}
}

// An allow-list can be shown and checked; only a run refuses it.
func TestNetworkListIsRefusedByReadyAlone(t *testing.T) {
	dir := tree(t, map[string]string{"list.yaml": "sandbox: {root: ., network: {allow: [example.org]}}\n"})
	for name, tt := range map[string]struct {
		flags config.Flags
		mode  policy.NetworkMode
		want  string
	}{
		"file":                  {config.Flags{Config: "list.yaml"}, policy.NetworkList, "list.yaml:1:29: network: {allow: ...} is not available yet"},
		"flag":                  {config.Flags{Net: []string{"example.org", "[2001:db8::1]:443"}}, policy.NetworkList, "--net example.org is not available yet"},
		"flag over file: off":   {config.Flags{Config: "list.yaml", Net: []string{"off"}}, policy.NetworkOff, ""},
		"flag over file: on":    {config.Flags{Config: "list.yaml", Net: []string{"on"}}, policy.NetworkOn, ""},
		"flag over file: hosts": {config.Flags{Config: "list.yaml", Net: []string{"b.example"}}, policy.NetworkList, "--net b.example is not available yet"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := config.Load(tt.flags, hostAt(dir, "", nil))
			require.NoError(t, err)
			assert.Equal(t, tt.mode, l.Sandbox.Effective().Network.Mode)
			if tt.want == "" {
				assert.NoError(t, l.Ready())
				return
			}
			assert.EqualError(t, l.Ready(), tt.want)
		})
	}
}

func TestTrust(t *testing.T) {
	needy := map[string]string{
		"root: ..":                                       "root: .. (line 1)",
		"paths: {up: {root: ..}}":                        "path up: .. (line 1)",
		"paths: {home: {root: '~'}}":                     "path home: '~' (line 1)",
		"paths: {etc: {root: /etc/hosts}}":               "path etc: /etc/hosts (line 1)",
		"root: ., network: true":                         "network: true (line 1)",
		"root: ., network: {allow: [a.b]}":               "network: {allow: ...} (line 1)",
		"root: ., env: {pass: [CI, HOME]}":               "env: {pass: CI} (line 1); env: {pass: HOME} (line 1)",
		"root: ., env: {set: {A: b}}":                    "env: {set: A} (line 1)",
		"root: ., system: host":                          "system: host (line 1)",
		"root: ., require_os_sandbox: false":             "require_os_sandbox: false (line 1)",
		"paths: {own: {root: ., write_approval: false}}": "write_approval: false (line 1)",
	}
	for body, want := range needy {
		t.Run(body, func(t *testing.T) {
			dir := tree(t, map[string]string{"p/sbx.yaml": "sandbox: {" + body + "}\n", "home/": ""})
			host := hostAt(dir+"/p", dir+"/home", nil)

			_, err := config.Load(config.Flags{}, host)
			var trust *config.TrustError
			require.ErrorAs(t, err, &trust)
			assert.Equal(t, "sbx.yaml asks for more than a file may grant that nobody named or trusted: "+want, err.Error())
			assert.Contains(t, trust.Hint(), "sbx trust sbx.yaml")
			assert.Equal(t, dir+"/p/sbx.yaml", trust.Path)

			host.Trusted = func(path, sum string) bool { return path == trust.Path && sum == "other" }
			_, err = config.Load(config.Flags{}, host)
			assert.ErrorAs(t, err, &trust, "another content was trusted")

			host.Trusted = func(path, sum string) bool { return path == trust.Path && sum == trust.SHA256 }
			_, err = config.Load(config.Flags{}, host)
			assert.NoError(t, err, "trusted")

			host.Trusted = nil
			_, err = config.Load(config.Flags{Config: "sbx.yaml"}, host)
			assert.NoError(t, err, "named by a flag")
			host.Env = func(name string) (string, bool) { return "sbx.yaml", name == "SBX_CONFIG" }
			_, err = config.Load(config.Flags{}, host)
			assert.NoError(t, err, "named by the environment")
		})
	}
}

func TestNoTrustNeeded(t *testing.T) {
	for name, body := range map[string]string{
		"its directory":     "root: .",
		"below it":          "paths: {one: {root: ./sub, mode: rw}, two: {root: sub/deep}}",
		"presets":           "root: ., presets: [go, git, node, python, rust]",
		"only narrower":     "root: ., readonly: true, deny: [x, /etc/passwd], system: none, network: false, require_os_sandbox: true, dynamic: false",
		"limits":            "root: ., limits: {timeout: 1s, memory: 1MiB}",
		"missing, optional": "paths: {one: {root: ./not-there, optional: true}}",
		"full path":         "root: $DIR/p",
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{"p/sub/deep/": "", "home/": ""})
			text := "sandbox: {" + os.Expand(body, func(string) string { return dir }) + "}\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, "p/sbx.yaml"), []byte(text), 0o644))
			_, err := config.Load(config.Flags{}, hostAt(dir+"/p/sub", dir+"/home", nil))
			assert.NoError(t, err)
		})
	}
}

// What a stranger puts into a shared directory is not a policy of the caller.
func TestForeignFilesNeedTrust(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("only root can give a file away; the control arm runs alone")
	}
	dir := tree(t, map[string]string{"sbx.yaml": ownRoot, "cwd/": ""})
	host := hostAt(dir+"/cwd", "", nil)
	_, err := config.Load(config.Flags{}, host)
	require.NoError(t, err)
	if os.Geteuid() != 0 {
		return
	}
	require.NoError(t, os.Chown(dir+"/sbx.yaml", 12345, 12345))
	_, err = config.Load(config.Flags{}, host)
	var trust *config.TrustError
	require.ErrorAs(t, err, &trust)
	assert.Contains(t, err.Error(), "it belongs to another user (uid 12345)")

	host.Env = func(name string) (string, bool) { return "12345", name == "SUDO_UID" }
	_, err = config.Load(config.Flags{}, host)
	assert.NoError(t, err, "the user behind sudo")
}
