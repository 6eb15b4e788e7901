package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

func TestPresetPaths(t *testing.T) {
	for name, tt := range map[string]struct {
		preset string
		files  []string
		env    map[string]string // $DIR stands for the test's directory
		want   []string          // readable roots, relative to it
		warn   string
	}{
		"go":                 {preset: "go", files: []string{"home/go/pkg/mod/", "home/go/bin/", "home/sdk/", "home/go/src/"}, want: []string{"/home/go/bin", "/home/go/pkg/mod", "/home/sdk"}},
		"go, nothing":        {preset: "go"},
		"go, GOPATH":         {preset: "go", files: []string{"home/go/pkg/mod/", "gp/pkg/mod/", "gp2/pkg/mod/"}, env: map[string]string{"GOPATH": "$DIR/gp:$DIR/gp2"}, want: []string{"/gp/pkg/mod"}},
		"go, GOMODCACHE":     {preset: "go", files: []string{"home/go/pkg/mod/", "cache/"}, env: map[string]string{"GOMODCACHE": "$DIR/cache", "GOPATH": "$DIR/gp"}, want: []string{"/cache"}},
		"go, GOROOT":         {preset: "go", files: []string{"root/"}, env: map[string]string{"GOROOT": "$DIR/root"}, want: []string{"/root"}},
		"go, GOROOT in /usr": {preset: "go", env: map[string]string{"GOROOT": "/usr/lib"}},
		"go, env -w":         {preset: "go", files: []string{"home/.config/go/env=GOMODCACHE=$DIR/mine\n", "mine/"}, want: []string{"/home/.config/go/env", "/mine"}},
		"go, GOENV=off":      {preset: "go", files: []string{"home/.config/go/env=GOMODCACHE=$DIR/mine\n", "mine/"}, env: map[string]string{"GOENV": "off"}},
		"go, proxy secret":   {preset: "go", files: []string{"home/.config/go/env=GOPROXY=https://u:p@proxy.example\n"}, warn: "preset go: $DIR/home/.config/go/env looks as if it held a credential: not shown"},
		"git":                {preset: "git", files: []string{"home/.gitconfig=[user]\n", "home/.git-credentials=x", "home/.config/git/ignore=", "home/.config/git/credentials=x"}, want: []string{"/home/.config/git/ignore", "/home/.gitconfig"}},
		"git, token":         {preset: "git", files: []string{"home/.gitconfig=[url \"https://x@github.com/\"]\n"}, warn: "preset git: $DIR/home/.gitconfig looks as if it held a credential: not shown"},
		"git, other place":   {preset: "git", files: []string{"home/.gitconfig=[user]\n", "mine=[user]\n"}, env: map[string]string{"GIT_CONFIG_GLOBAL": "$DIR/mine"}, want: []string{"/mine"}},
		"node":               {preset: "node", files: []string{"home/.nvm/versions/", "home/.npmrc=x", "home/.npm/", "home/.npm-global/etc/npmrc=x", "home/.npm-global/lib/"}, want: []string{"/home/.npm-global/lib", "/home/.nvm/versions"}},
		"node, NVM_DIR":      {preset: "node", files: []string{"home/.nvm/versions/", "nvm/versions/"}, env: map[string]string{"NVM_DIR": "$DIR/nvm"}, want: []string{"/nvm/versions"}},
		"python":             {preset: "python", files: []string{"home/.pyenv/", "home/.local/bin/", "home/.local/lib/", "home/.config/pip/pip.conf=x", "home/.pypirc=x", "home/.cache/pip/"}, want: []string{"/home/.local/bin", "/home/.local/lib", "/home/.pyenv"}},
		"python, pyenv":      {preset: "python", files: []string{"py/"}, env: map[string]string{"PYENV_ROOT": "$DIR/py"}, want: []string{"/py"}},
		"rust":               {preset: "rust", files: []string{"home/.cargo/registry/", "home/.cargo/bin/", "home/.cargo/git/", "home/.cargo/credentials.toml=x", "home/.rustup/"}, want: []string{"/home/.cargo/bin", "/home/.cargo/git", "/home/.cargo/registry", "/home/.rustup"}},
		"rust, CARGO_HOME":   {preset: "rust", files: []string{"c/registry/", "r/", "home/.cargo/registry/"}, env: map[string]string{"CARGO_HOME": "$DIR/c", "RUSTUP_HOME": "$DIR/r"}, want: []string{"/c/registry", "/r"}},

		"the home itself":  {preset: "go", env: map[string]string{"GOROOT": "$DIR/home"}, warn: "preset go: $DIR/home is too wide: not shown"},
		"above the home":   {preset: "go", env: map[string]string{"GOROOT": "$DIR"}, warn: "preset go: $DIR is too wide: not shown"},
		"everything":       {preset: "go", env: map[string]string{"GOROOT": "/"}, warn: "preset go: / is too wide: not shown"},
		"up to everything": {preset: "go", env: map[string]string{"GOROOT": "/usr/.."}, warn: "preset go: / is too wide: not shown"},
		"relative":         {preset: "go", env: map[string]string{"GOROOT": "home"}},
		"link":             {preset: "go", files: []string{"home/go/pkg/mod->$DIR/elsewhere", "elsewhere/"}, warn: "preset go: $DIR/home/go/pkg/mod leads through the symbolic link $DIR/home/go/pkg/mod to $DIR/elsewhere: not shown"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, map[string]string{"home/": "", "cwd/": ""})
			for _, f := range tt.files {
				plant(t, dir, strings.ReplaceAll(f, "$DIR", dir))
			}
			env := map[string]string{}
			for k, v := range tt.env {
				env[k] = strings.ReplaceAll(v, "$DIR", dir)
			}
			l, err := config.Load(config.Flags{Presets: []string{tt.preset}}, hostAt(dir+"/cwd", dir+"/home", env))
			require.NoError(t, err)
			e := l.Sandbox.Effective()
			var got []string
			for _, root := range e.Readable() {
				if rest, below := strings.CutPrefix(root, dir); below { // not this machine's /etc/gitconfig
					got = append(got, rest)
				}
			}
			assert.Equal(t, tt.want, got)
			assert.Empty(t, e.Writable(), "presets never grant writing")
			if tt.warn == "" {
				assert.Empty(t, l.Warnings)
				return
			}
			require.Len(t, l.Warnings, 1)
			assert.Equal(t, strings.ReplaceAll(tt.warn, "$DIR", dir), l.Warnings[0].Message)
		})
	}
}

// plant makes "dir/", "file=content" or "link->target".
func plant(t *testing.T, dir, what string) {
	t.Helper()
	if link, target, ok := strings.Cut(what, "->"); ok {
		require.NoError(t, os.MkdirAll(dir+"/"+link[:strings.LastIndex(link, "/")], 0o755))
		require.NoError(t, os.Symlink(target, dir+"/"+link))
		return
	}
	name, content, isFile := strings.Cut(what, "=")
	if !isFile {
		require.NoError(t, os.MkdirAll(dir+"/"+name, 0o755))
		return
	}
	if i := strings.LastIndex(name, "/"); i > 0 {
		require.NoError(t, os.MkdirAll(dir+"/"+name[:i], 0o755))
	}
	require.NoError(t, os.WriteFile(dir+"/"+name, []byte(content), 0o600))
}

// No preset shows a place where credentials are known to lie, whatever the
// tools are configured to.
func TestPresetsNeverShowCredentials(t *testing.T) {
	secrets := []string{
		".ssh/id_ed25519", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".config/git/credentials", ".config/gh/hosts.yml",
		".cargo/credentials", ".cargo/credentials.toml", ".docker/config.json", ".aws/credentials", ".config/pip/pip.conf", ".condarc",
		".config/pypoetry/auth.toml", ".gnupg/x", ".npm-global/etc/npmrc", ".yarnrc.yml", ".config/sbx/config.yaml",
	}
	dir := tree(t, map[string]string{"cwd/": ""})
	for _, s := range secrets {
		plant(t, dir, "home/"+s+"=x")
	}
	for _, open := range []string{".gitconfig", ".config/git/config", ".cargo/registry/x", ".npm-global/lib/x"} {
		plant(t, dir, "home/"+open+"=x")
	}
	l, err := config.Load(config.Flags{Presets: config.PresetNames()}, hostAt(dir+"/cwd", dir+"/home", nil))
	require.NoError(t, err)
	e := l.Sandbox.Effective()
	for _, s := range secrets {
		assert.False(t, e.CanRead(dir+"/home/"+s), s)
	}
	assert.True(t, e.CanRead(dir+"/home/.gitconfig"), "control: what presets do show")
	assert.True(t, e.CanRead(dir+"/home/.cargo/registry/x"))
}

// What is granted by name is left as it was granted.
func TestPresetsNeverNarrow(t *testing.T) {
	dir := tree(t, map[string]string{"home/go/pkg/mod/": "", "home/go/bin/": "", "cwd/": ""})
	l, err := config.Load(config.Flags{RW: []string{"~/go/pkg/mod"}, Presets: []string{"go"}}, hostAt(dir+"/cwd", dir+"/home", nil))
	require.NoError(t, err)
	e := l.Sandbox.Effective()
	assert.True(t, e.CanWrite(dir+"/home/go/pkg/mod/x"))
	assert.True(t, e.CanRead(dir+"/home/go/bin/x"))
	assert.False(t, e.CanWrite(dir+"/home/go/bin/x"))
}

// Who grants the target of a linked dot file gets the link as well.
func TestPresetLinkWithGrantedTarget(t *testing.T) {
	dir := tree(t, map[string]string{"home/dotfiles/gitconfig": "", "cwd/": ""})
	require.NoError(t, os.Symlink("dotfiles/gitconfig", dir+"/home/.gitconfig"))
	l, err := config.Load(config.Flags{RO: []string{"~/dotfiles"}, Presets: []string{"git"}}, hostAt(dir+"/cwd", dir+"/home", nil))
	require.NoError(t, err)
	assert.Empty(t, l.Warnings)
	assert.Contains(t, l.Sandbox.Effective().Links, policy.Link{Path: dir + "/home/.gitconfig", Target: "dotfiles/gitconfig"})
}

func TestPresetRules(t *testing.T) {
	dir := tree(t, map[string]string{"home/go/pkg/mod/": "", "sbx.yaml": "sandbox:\n  paths: {}\n  presets: [go]\n"})
	l, err := config.Load(config.Flags{}, hostAt(dir, dir+"/home", nil))
	require.NoError(t, err)
	rule := l.Sandbox.Effective().Decide(policy.Read, dir+"/home/go/pkg/mod/x").Entry.Rule
	assert.Equal(t, policy.Rule{File: "sbx.yaml", Line: 3, Text: "preset go"}, rule)
}

func TestPresetVariables(t *testing.T) {
	off := policy.Variable{Name: "GOPROXY", Value: "off"}
	env := map[string]string{"GOFLAGS": "-tags=x", "GOPROXY": "https://u:p@proxy.example"}
	for name, tt := range map[string]struct {
		flags config.Flags
		pass  []string
		set   []policy.Variable
	}{
		"network off":  {config.Flags{Presets: []string{"go"}}, []string{"GOFLAGS"}, []policy.Variable{off}},
		"network on":   {config.Flags{Presets: []string{"go"}, Net: []string{"on"}}, []string{"GOFLAGS"}, nil},
		"passed":       {config.Flags{Presets: []string{"go"}, Env: []string{"GOPROXY"}}, []string{"GOFLAGS", "GOPROXY"}, []policy.Variable{}},
		"passed by *":  {config.Flags{Presets: []string{"go"}, Env: []string{"GO*"}}, []string{"GOFLAGS", "GO*"}, []policy.Variable{}},
		"set":          {config.Flags{Presets: []string{"go"}, Env: []string{"GOPROXY=x"}}, []string{"GOFLAGS"}, []policy.Variable{{Name: "GOPROXY", Value: "x"}}},
		"set to none":  {config.Flags{Presets: []string{"go"}, Env: []string{"GOFLAGS="}}, []string{}, []policy.Variable{off, {Name: "GOFLAGS"}}},
		"other preset": {config.Flags{Presets: []string{"git"}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := config.Load(tt.flags, hostAt(t.TempDir(), "", env))
			require.NoError(t, err)
			e := l.Sandbox.Effective()
			assert.Equal(t, tt.pass, e.Env.Pass)
			assert.Equal(t, tt.set, e.Env.Set)
		})
	}
}
