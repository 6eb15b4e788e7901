package config_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

// For generated lists of rules and every path of a tree, the sandbox decides
// as a reader of the list would: the first rule that holds the path counts.
func TestWorkspaceIsFirstMatch(t *testing.T) {
	dir := tree(t, map[string]string{"home/": "", "w/a/b/c/f": "", "w/a/d/f": "", "w/e/f": "", "w/g/h/f": ""})
	var dirs, paths []string
	require.NoError(t, filepath.WalkDir(dir+"/w", func(p string, e fs.DirEntry, err error) error {
		paths = append(paths, p)
		if e.IsDir() {
			dirs = append(dirs, p)
		}
		return err
	}))
	r := rand.New(rand.NewPCG(4, 2004))
	host := hostAt(dir, dir+"/home", nil)
	host.UserFile = dir + "/home/config.yaml"
	type rule struct {
		root string
		mode string
	}
	allowed := 0
	for range 300 {
		rules := make([]rule, 1+r.IntN(6))
		for i := range rules {
			rules[i] = rule{dirs[r.IntN(len(dirs))], []string{"ro", "rw"}[r.IntN(2)]}
		}
		var b strings.Builder
		fmt.Fprintf(&b, "workspace:\n  root: %s\n  mode: %s\n  allow:\n    - {path: %s}\n", rules[0].root, rules[0].mode, dir+"/w/none")
		for _, x := range rules[1:] {
			fmt.Fprintf(&b, "    - {path: %s, mode: %s}\n", x.root, x.mode)
		}
		writeFile(t, host.UserFile, b.String())
		l, err := config.Load(config.Flags{}, host)
		require.NoError(t, err, b.String())
		e := l.Sandbox.Effective()
		for _, p := range paths {
			read, write := false, false
			for _, x := range rules {
				if policy.Contains(x.root, p) {
					read, write = true, x.mode == "rw"
					break
				}
			}
			require.Equal(t, read, e.Decide(policy.Read, p).Allowed, "read %s\n%s", p, b.String())
			require.Equal(t, write, e.Decide(policy.Write, p).Allowed, "write %s\n%s", p, b.String())
			if write {
				allowed++
			}
		}
	}
	assert.Positive(t, allowed)
}

func TestWorkspaceReasons(t *testing.T) {
	dir := tree(t, map[string]string{"home/ws/f": "", "home/f": "", "rw/f": "", "other/f": ""})
	host := hostAt(dir+"/other", dir+"/home", nil)
	host.UserFile = dir + "/home/config.yaml"
	writeFile(t, host.UserFile, "workspace: {root: ~/ws, allow: [{path: "+dir+"/rw, mode: rw}]}\n")
	l, err := config.Load(config.Flags{}, host)
	require.NoError(t, err)
	e := l.Sandbox.Effective()
	for _, tt := range []struct {
		op     policy.Access
		path   string
		reason string // "" is allowed
	}{
		{policy.Read, "home/ws/f", ""},
		{policy.Write, "home/ws/f", "read-only workspace"},
		{policy.Write, "rw/f", ""},
		{policy.Read, "home/f", "outside workspace"},
		{policy.Write, "home/f", "outside workspace"},
	} {
		d := e.Decide(tt.op, dir+"/"+tt.path)
		assert.Equal(t, tt.reason == "", d.Allowed, tt.path)
		if tt.reason != "" {
			assert.Equal(t, tt.reason, d.Reason, "%v %s", tt.op, tt.path)
		}
	}
	assert.Equal(t, "outside workspace", e.Decide(policy.Read, "/srv/x").Reason)
	assert.Equal(t, "part of the read-only system base", e.Decide(policy.Write, "/usr/x").Reason)
}

// The root is made for a run alone, and never where a disk seems to be missing.
func TestWorkspaceRootIsMade(t *testing.T) {
	dir := tree(t, map[string]string{"home/": "", "disk/": ""})
	for name, tt := range map[string]struct {
		root string
		want string
	}{
		"below the home, any depth":     {"~/x/y/z", ""},
		"elsewhere, the last directory": {dir + "/disk/ws", ""},
		"elsewhere, deeper":             {dir + "/gone/ws", "workspace root $DIR/gone/ws: $DIR/gone does not exist"},
		"a file":                        {"~/config.yaml", "workspace root '~/config.yaml' is not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			host := hostAt(dir, dir+"/home", nil)
			host.UserFile = dir + "/home/config.yaml"
			writeFile(t, host.UserFile, "workspace: {root: "+tt.root+"}\n")
			place := strings.Replace(tt.root, "~", dir+"/home", 1)
			_, err := config.Load(config.Flags{}, host)
			if tt.want != "" {
				assert.ErrorContains(t, err, strings.ReplaceAll(tt.want, "$DIR", dir))
				return
			}
			require.NoError(t, err)
			assert.NoDirExists(t, place, "asked about, not run")
			host.MakeWorkspace = true
			_, err = config.Load(config.Flags{}, host)
			require.NoError(t, err)
			assert.DirExists(t, place)
		})
	}
}
