package config

import "github.com/sbx-run/sbx/policy"

// preset is a reviewed grant for one tool chain. It only ever grants reading,
// never a file that may hold a credential, and never a place from which other
// programs take what they execute by themselves. Caches that tools write to
// stay private: the home inside is the same path, but empty.
type preset struct {
	name    string
	paths   []presetPath
	pass    []string          // variables of the caller that change how the tools work
	offline []policy.Variable // set where the network is off, so that tools say so at once

	// settings reads variables that the tools keep in a file; nil for none.
	settings func(Host) map[string]string
}

// presetPath is one optional path. from lists where it may be, the first
// whose variable is set counts: "$GOPATH/x", and "~/x" for the home.
type presetPath struct {
	from []string
	why  string
	scan bool // skipped where the content looks like a credential
}

// presets returns all presets, sorted by name.
func presets() []preset {
	return []preset{
		{
			name: "git",
			paths: []presetPath{
				{from: []string{"$GIT_CONFIG_GLOBAL", "~/.gitconfig"}, why: "name, e-mail and aliases of commits", scan: true},
				{from: []string{"~/.config/git/config"}, why: "the same at its other place", scan: true},
				{from: []string{"~/.config/git/ignore"}, why: "what git status leaves out"},
				{from: []string{"~/.config/git/attributes"}, why: "how git diff reads files"},
				{from: []string{"/etc/gitconfig"}, why: "the machine's defaults", scan: true},
			},
			pass: []string{"GIT_CONFIG_GLOBAL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"},
		},
		{
			name: "go",
			paths: []presetPath{
				{from: []string{"$GOROOT"}, why: "the tool chain, where it is not in the system base"},
				{from: []string{"~/sdk"}, why: "tool chains of golang.org/dl"},
				{from: []string{"$GOMODCACHE", "$GOPATH/pkg/mod", "~/go/pkg/mod"}, why: "module cache: a build without network needs it"},
				{from: []string{"$GOBIN", "$GOPATH/bin", "~/go/bin"}, why: "programs of go install"},
				{from: []string{"$GOENV", "~/.config/go/env"}, why: "what go env -w has set", scan: true},
			},
			// A proxy's address may hold a password: GOPROXY is never passed.
			// GOCACHE is not either: the build cache stays private.
			pass: []string{
				"GOENV", "GOROOT", "GOPATH", "GOMODCACHE", "GOBIN", "GOOS", "GOARCH", "GOAMD64", "GOARM", "GOARM64",
				"CGO_ENABLED", "GOFLAGS", "GOTOOLCHAIN", "GOEXPERIMENT", "GODEBUG", "GOWORK",
			},
			offline:  []policy.Variable{{Name: "GOPROXY", Value: "off"}},
			settings: goSettings,
		},
		{
			name: "node",
			paths: []presetPath{
				{from: []string{"$NVM_DIR/versions", "~/.nvm/versions"}, why: "versions that nvm installed"},
				{from: []string{"$VOLTA_HOME/bin", "~/.volta/bin"}, why: "volta's launchers"},
				{from: []string{"$VOLTA_HOME/tools", "~/.volta/tools"}, why: "versions that volta installed"},
				{from: []string{"$FNM_DIR/node-versions", "~/.local/share/fnm/node-versions"}, why: "versions that fnm installed"},
				{from: []string{"$PNPM_HOME", "~/.local/share/pnpm"}, why: "pnpm and its store of packages"},
				{from: []string{"~/.cache/node/corepack"}, why: "package managers that corepack fetched"},
				{from: []string{"~/.npm-global/bin"}, why: "programs of npm install -g"},
				{from: []string{"~/.npm-global/lib"}, why: "their packages; beside them, etc/npmrc may hold a token"},
			},
			pass:    []string{"NVM_DIR", "VOLTA_HOME", "FNM_DIR", "PNPM_HOME", "NODE_ENV", "NODE_OPTIONS", "NODE_PATH"},
			offline: []policy.Variable{{Name: "npm_config_offline", Value: "true"}, {Name: "npm_config_update_notifier", Value: "false"}},
		},
		{
			name: "python",
			paths: []presetPath{
				{from: []string{"$PYENV_ROOT", "~/.pyenv"}, why: "versions that pyenv installed, and its launchers"},
				{from: []string{"~/.local/bin"}, why: "programs of pip install --user, pipx and uv"},
				{from: []string{"~/.local/lib"}, why: "packages of pip install --user"},
				{from: []string{"$PIPX_HOME/venvs", "~/.local/share/pipx/venvs"}, why: "programs that pipx installed"},
				{from: []string{"~/.local/share/uv"}, why: "interpreters and tools that uv installed"},
				{from: []string{"$WORKON_HOME", "~/.virtualenvs"}, why: "virtual environments of virtualenvwrapper"},
				{from: []string{"~/.local/share/virtualenvs"}, why: "virtual environments of pipenv"},
				{from: []string{"~/.cache/pypoetry/virtualenvs"}, why: "virtual environments of poetry"},
			},
			pass: []string{"PYENV_ROOT", "PYENV_VERSION", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"},
			offline: []policy.Variable{
				{Name: "PIP_RETRIES", Value: "0"}, {Name: "PIP_DISABLE_PIP_VERSION_CHECK", Value: "1"}, {Name: "UV_OFFLINE", Value: "1"},
			},
		},
		{
			name: "rust",
			paths: []presetPath{
				{from: []string{"$RUSTUP_HOME", "~/.rustup"}, why: "tool chains and which of them is the default"},
				{from: []string{"$CARGO_HOME/bin", "~/.cargo/bin"}, why: "cargo, rustc and programs of cargo install"},
				{from: []string{"$CARGO_HOME/registry", "~/.cargo/registry"}, why: "crates: a build without network needs them"},
				{from: []string{"$CARGO_HOME/git", "~/.cargo/git"}, why: "crates that come from git"},
				{from: []string{"$CARGO_HOME/config.toml", "~/.cargo/config.toml"}, why: "linker and targets of the user", scan: true},
			},
			pass:    []string{"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUST_BACKTRACE", "CARGO_TERM_COLOR"},
			offline: []policy.Variable{{Name: "CARGO_NET_OFFLINE", Value: "true"}},
		},
	}
}
