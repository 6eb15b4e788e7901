package policy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecisions(t *testing.T) {
	root := tree(t,
		"home/p/src/a.go", "home/p/sbx.yaml", "home/p/.env", "home/p/drop/", "home/p/ro/x", "home/.ssh/id", "home/other/x", "home/f",
		"sys/lib/x", "srv/x", "srv/deep/er/x", "home/p/far -> $T/srv/x", "home/p/via -> ../other/../p/src", "home/p/hop -> ../other/hop", "home/other/hop -> ../p/src",
	)
	home := root + "/home"
	spec := Spec{
		Base: Base{Entries: []Entry{
			{Path: root + "/sys", Access: Read, Kind: System, Type: TypeDir},
			{Path: home, Kind: Private, Type: TypeDir},
			{Path: root + "/tmp", Kind: Private, Type: TypeDir},
		}},
		Mounts:  []Mount{mountAt(t, "/", home+"/p", ReadAndWrite), mountAt(t, "", home+"/p/ro", ReadOnly)},
		Form:    RootForm,
		Denies:  []Deny{mustDeny(t, ".env", "/", ""), mustDeny(t, root+"/srv/deep", "/", "")},
		Guarded: []string{home + "/p/sbx.yaml"},
		Places:  Places{Home: home, Cwd: home + "/p", Own: []string{home + "/own"}},
	}
	e := mustNew(t, spec).Effective()
	for _, tc := range []struct {
		op      Access
		path    string
		allowed bool
		reason  string
		with    string
	}{
		{Read, home + "/p/src/a.go", true, "granted read-write", ""},
		{Write, home + "/p/new/file", true, "granted read-write", ""},
		{Write, home + "/p/ro/x", false, "granted read-only", "--rw ./ro/x"},
		{Write, home + "/p/sbx.yaml", false, "protected: it decides about later runs", ""},
		{Read, home + "/p/.env", false, "hidden by deny .env", ""},
		{Read, root + "/srv/deep/er/x", false, "hidden by deny " + root + "/srv/deep", ""},
		{Read, home + "/own/x", false, "hidden by sbx's own files", ""},
		{Read, root + "/sys/lib/x", true, "part of the system base", ""},
		{Write, root + "/sys/lib/x", false, "part of the read-only system base", "--rw " + root + "/sys/lib/x"},
		{Read, root + "/srv/x", false, "outside the sandbox", "--ro " + root + "/srv/x"},
		{Write, root + "/srv/none/x", false, "outside the sandbox", "--rw " + root + "/srv"},
		{Read, home + "/other", false, "private: the command sees its own " + home, "--ro " + home + "/other"},
		{Write, home + "/new", false, "private: the command sees its own " + home, ""}, // it would take the whole home
		{Read, root + "/tmp/new", false, "private: the command sees its own " + root + "/tmp", ""},
		{Write, root + "/new", false, "outside the sandbox", ""}, // above the home
		{Read, home + "/p/far", false, "outside the sandbox", "--ro " + root + "/srv/x"},
		{Read, home + "/p/hop", false, "leads through the link " + home + "/other/hop, which is private: the command sees its own " + home, ""},
		{Read, home + "/p/via", false, "leads through the directory " + home + "/other, which is private: the command sees its own " + home, ""},
	} {
		t.Run(tc.op.String()+" "+tc.path[len(root):], func(t *testing.T) {
			r, d, err := e.Look(tc.op, tc.path)
			require.NoError(t, err)
			assert.Equal(t, tc.allowed, d.Allowed)
			assert.Equal(t, tc.reason, d.Reason)
			assert.Equal(t, tc.with, e.AllowWith(tc.op, r, d))

			x := e.Explain(tc.op, tc.path)
			assert.Equal(t, d, x.Decision)
			assert.Equal(t, tc.with, x.AllowWith)
			assert.Equal(t, r.Path, x.Resolved)
		})
	}
}

// Where AllowWith names a flag, a mount of that path with that mode does
// allow the access.
func TestAllowWithAllows(t *testing.T) {
	root := tree(t, "home/p/", "srv/a/x", "home/.ssh/id")
	spec := Spec{Mounts: []Mount{mountAt(t, "pp", root+"/home/p", ReadOnly)}, Places: Places{Home: root + "/home", Cwd: root + "/home"}}
	for _, p := range []string{"srv/a/x", "srv/a", "srv/a/new/x", "home/p", "home/p/x", "home/.ssh/id"} {
		for _, op := range []Access{Read, Write} {
			e := mustNew(t, spec).Effective()
			r, d, err := e.Look(op, root+"/"+p)
			require.NoError(t, err)
			flag := e.AllowWith(op, r, d)
			if d.Allowed {
				assert.Empty(t, flag)
				continue
			}
			require.NotEmpty(t, flag, p)
			mode := map[string]Mode{"--ro ": ReadOnly, "--rw ": ReadAndWrite}[flag[:5]]
			granted, err := Resolve(mustAbsolute(spec.Places.Cwd, flag[5:]))
			require.NoError(t, err)
			wider := spec
			wider.Mounts = nil
			for _, m := range spec.Mounts {
				if m.Root != granted.Path {
					wider.Mounts = append(wider.Mounts, m)
				}
			}
			wider.Mounts = append(wider.Mounts, Mount{Root: granted.Path, Mode: mode, Type: granted.Type})
			_, d, err = mustNew(t, wider).Effective().Look(op, root+"/"+p)
			require.NoError(t, err)
			assert.True(t, d.Allowed, "%s %s with %s", op, p, flag)
		}
	}
}

func mustAbsolute(cwd, p string) string {
	if p[0] == '/' {
		return p
	}
	return cwd + "/" + p
}

func TestLookDoesNotTellWhatIsHidden(t *testing.T) {
	root := tree(t, "p/", "hidden/file", "p/file -> ../hidden/file/x", "p/dir -> ../hidden/none/../x", "p/loop -> ../hidden/loop", "hidden/loop -> loop", "p/mine", "p/ownloop -> ownloop")
	e := mustNew(t, Spec{Mounts: []Mount{mountAt(t, "pp", root+"/p", ReadAndWrite)}}).Effective()
	for _, name := range []string{"file", "dir", "loop"} {
		_, d, err := e.Look(Read, root+"/p/"+name)
		require.NoError(t, err, name)
		assert.False(t, d.Allowed)
	}
	// What fails inside the sandbox may say so.
	for _, name := range []string{"mine/x", "ownloop"} {
		_, _, err := e.Look(Read, root+"/p/"+name)
		assert.Error(t, err, name)
		assert.NotEmpty(t, e.Explain(Read, root+"/p/"+name).Reason)
	}
}

func TestLookTakesLinksOfTheBaseAsTheirTargets(t *testing.T) {
	root := tree(t, "run/resolv.conf", "etc/resolv.conf -> ../run/resolv.conf")
	e := mustNew(t, Spec{Base: Base{Entries: []Entry{{Path: root + "/etc/resolv.conf", Access: Read, Kind: System, Type: TypeFile}}}}).Effective()
	_, d, err := e.Look(Read, root+"/etc/resolv.conf")
	require.NoError(t, err)
	assert.True(t, d.Allowed)
}

// An Effective that nobody derived has all of a write-only place's links.
func TestLookFollowsLinksOfADropBox(t *testing.T) {
	root := tree(t, "drop/link -> ../pub", "pub/x")
	e := Effective{Area: NewArea(
		Entry{Path: root + "/drop", Access: Write, Kind: Granted, Type: TypeDir},
		Entry{Path: root + "/pub", Access: Read, Kind: Granted, Type: TypeDir},
	)}
	_, d, err := e.Look(Read, root+"/drop/link/x")
	require.NoError(t, err)
	assert.True(t, d.Allowed)
	d = e.Decide(Read, root+"/drop/x")
	assert.False(t, d.Allowed)
	assert.Equal(t, "granted write-only", d.Reason)
}

func TestShellQuote(t *testing.T) {
	for s, want := range map[string]string{
		"./a-b/c_d.e": "./a-b/c_d.e", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "~": "'~'", "$x": "'$x'", "é": "'é'", "a\nb": "'a\nb'", "*": "'*'",
	} {
		assert.Equal(t, want, ShellQuote(s))
	}
}
