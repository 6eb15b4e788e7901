package config_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
)

// places is a tree in which generated programs grant and narrow.
var places = []string{"a/", "a/one", "a/two/", "a/two/f", "b/", "b/one", "b/two/deep/", "b/two/deep/f", "c/", "c/f"}

// generated writes a program with workers that narrow it at random.
func generated(r *rand.Rand) string {
	dirs := []string{"/", "/a", "/a/two", "/b", "/b/two", "/b/two/deep", "/c", "/none"}
	pick := func() string { return dirs[r.IntN(len(dirs))] }
	list := func() string {
		items := make([]string, r.IntN(3))
		for i := range items {
			items[i] = pick()
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "sandbox: {root: ., readonly: %v, deny: [%s]}\nworkers:\n", r.IntN(4) == 0, []string{"one", "deep", "none"}[r.IntN(3)])
	for i := range 4 {
		keys := []string{fmt.Sprintf("inherit: %v", r.IntN(3) > 0)}
		if r.IntN(2) == 0 {
			keys = append(keys, "allow_read: "+list())
		}
		if r.IntN(2) == 0 {
			keys = append(keys, "allow_write: "+list())
		}
		if r.IntN(4) == 0 {
			keys = append(keys, "readonly: true")
		}
		if r.IntN(4) == 0 {
			keys = append(keys, "deny: [one]")
		}
		fmt.Fprintf(&b, "  w%d: {%s}\n", i, strings.Join(keys, ", "))
	}
	return b.String()
}

// A chain of calls, three deep over generated programs: nobody ever has more
// than any of its callers, nor more than its own configuration gives it.
func TestChainsOfCallsOnlyNarrow(t *testing.T) {
	files := map[string]string{}
	for _, p := range places {
		files[p] = ""
	}
	dir := tree(t, files)
	var paths []string
	require.NoError(t, filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		paths = append(paths, p, p+"/new")
		return err
	}))
	r := rand.New(rand.NewPCG(6, 2002))
	host := hostAt(dir, "", nil)
	chains, narrowed := 0, 0
	for range 400 {
		file := filepath.Join(t.TempDir(), "p.yaml")
		writeFile(t, file, strings.ReplaceAll(generated(r), "root: .", "root: "+dir))
		chain := []policy.Sandbox{}
		for range 3 {
			flags := config.Flags{Config: file, Worker: fmt.Sprintf("w%d", r.IntN(4))}
			alone, err := config.Load(flags, host)
			if err != nil {
				break // it asks for more than its program has
			}
			callee := alone.Sandbox
			if len(chain) > 0 {
				called, err := config.Call(chain[len(chain)-1], flags, host)
				require.NoError(t, err)
				callee = called.Sandbox
			}
			for _, above := range append(chain, alone.Sandbox) {
				narrowed += subset(t, paths, above, callee)
			}
			chain = append(chain, callee)
		}
		if len(chain) == 3 {
			chains++
		}
	}
	assert.Greater(t, chains, 100)
	assert.Greater(t, narrowed, 1000, "some access was there to be cut")
}

// subset fails where callee has what above lacks, and counts where above has
// more.
func subset(t *testing.T, paths []string, above, callee policy.Sandbox) (more int) {
	t.Helper()
	a, c := above.Effective(), callee.Effective()
	for _, p := range paths {
		for _, op := range []policy.Access{policy.Read, policy.Write} {
			switch up, down := a.Decide(op, p).Allowed, c.Decide(op, p).Allowed; {
			case down && !up:
				t.Fatalf("%v %s: the callee has what a caller lacks", op, p)
			case up && !down:
				more++
			}
		}
	}
	return more
}

// A caller refuses flags that ask for more than it has, and cuts files.
func TestCall(t *testing.T) {
	dir := tree(t, map[string]string{
		"a/f": "", "b/f": "", "home/": "",
		"p.yaml": "sandbox: {paths: {aa: {root: ./a, mode: rw}, bb: {root: ./b, mode: rw}}, network: true, limits: {timeout: 2m}}\n",
	})
	host := hostAt(dir, dir+"/home", nil)
	outer, err := config.Load(config.Flags{RO: []string{"a"}, Limits: []string{"timeout=1m"}}, host)
	require.NoError(t, err)
	caller := outer.Sandbox

	l, err := config.Call(caller, config.Flags{Config: "p.yaml"}, host)
	require.NoError(t, err)
	e := l.Sandbox.Effective()
	assert.Equal(t, []string{dir + "/a"}, e.Readable())
	assert.Empty(t, e.Writable())
	assert.Equal(t, policy.NetworkOff, e.Network.Mode)
	assert.Equal(t, "1m0s", e.Limits.Timeout.String())
	require.Len(t, l.Warnings, 1)
	assert.Contains(t, l.Warnings[0].Message, "path bb: ./b: cut")

	for name, tt := range map[string]struct {
		flags config.Flags
		want  string
	}{
		"read":    {config.Flags{RO: []string{"b"}}, "--ro b: the readable paths of the outer sandbox are a"},
		"write":   {config.Flags{RW: []string{"a"}}, "--rw a: the outer sandbox has no writable paths"},
		"network": {config.Flags{Net: []string{"on"}}, "--net on: the outer sandbox has no network access"},
		"hosts":   {config.Flags{Net: []string{"example.org"}}, "--net example.org: the outer sandbox has no network access"},
		"system":  {config.Flags{System: "host"}, "--system host: the outer sandbox has the system base minimal"},
		"limits":  {config.Flags{Limits: []string{"timeout=5m"}}, "limits.timeout=5m0s: parent sandbox has 1m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Call(caller, tt.flags, host)
			var escalation *policy.PermissionEscalationError
			require.ErrorAs(t, err, &escalation)
			assert.Contains(t, err.Error(), "Cannot create child sandbox with "+tt.want)
		})
	}
	_, err = config.Call(caller, config.Flags{RO: []string{"a"}, Net: []string{"off"}, Limits: []string{"timeout=30s"}}, host)
	assert.NoError(t, err, "what the caller has")
}
