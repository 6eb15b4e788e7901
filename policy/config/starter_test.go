package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy/config"
)

func TestStarter(t *testing.T) {
	for name, tt := range map[string]struct {
		files   map[string]string
		presets string
	}{
		"empty":        {nil, "# presets: [git] "},
		"go with git":  {map[string]string{"go.mod": "", ".git/": ""}, "presets: [git, go] "},
		"git worktree": {map[string]string{".git": "gitdir: x"}, "presets: [git] "},
		"all": {
			map[string]string{"go.mod": "", ".git/": "", "package.json": "", "pyproject.toml": "", "setup.py": "", "Cargo.toml": ""},
			"presets: [git, go, node, python, rust] ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := tree(t, tt.files)
			text := config.Starter(dir)
			assert.Contains(t, text, "\n  "+tt.presets)
			require.NoError(t, os.WriteFile(dir+"/sbx.yaml", []byte(text), 0o644))
			host := hostAt(dir, "/nonexistent", nil)
			assert.Empty(t, config.Validate("sbx.yaml", host))
			l, err := config.Load(config.Flags{}, host)
			require.NoError(t, err, "it needs no trust")
			assert.Equal(t, []string{dir}, l.Sandbox.Effective().Writable())
			assert.NoError(t, l.Ready())
		})
	}
}

// Every line of the starter that is commented out is valid when it is not.
func TestStarterComments(t *testing.T) {
	dir := tree(t, map[string]string{"src/": "", "doc/": ""})
	var text strings.Builder
	for line := range strings.Lines(config.Starter(dir)) {
		body, isComment := strings.CutPrefix(line, "  # ")
		switch {
		case isComment:
			text.WriteString("  " + body)
		case !strings.HasPrefix(line, "  root:"):
			text.WriteString(line)
		}
	}
	require.NoError(t, os.WriteFile(dir+"/all.yaml", []byte(text.String()), 0o644))
	assert.Empty(t, config.Validate("all.yaml", hostAt(dir, "/nonexistent", nil)), text.String())
}

func TestValidate(t *testing.T) {
	dir := tree(t, map[string]string{
		"sbx.yaml":     "sandbox: {root: ./nope, deny: x}\n",
		"good.yaml":    "sandbox: {root: ., dynamic: true, network: {allow: [a.b]}}\n",
		"config.yaml":  "workspace: {root: ~/w}\n",
		"program.yaml": "name: x\nsandbox: {rot: .}\n",
	})
	host := hostAt(dir, dir, nil)
	host.UserFile = dir + "/config.yaml"
	for file, want := range map[string]string{
		"sbx.yaml":     "sbx.yaml:1:17: ./nope does not exist",
		"good.yaml":    "", // what waits for trust or for a later version is no fault
		"config.yaml":  "",
		"program.yaml": `program.yaml:2:11: unknown key "rot"`,
		"missing.yaml": "missing.yaml: cannot read the configuration: no such file or directory",
	} {
		faults := config.Validate(file, host)
		if want == "" {
			assert.Empty(t, faults, file)
			continue
		}
		require.Len(t, faults, 1, file)
		assert.Equal(t, want, faults[0].Error())
	}
}
