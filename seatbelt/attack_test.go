package seatbelt

import (
	"strings"
	"testing"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/seatbelt/sbpltest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// typical is a project that may be written, with a hidden file, hooks that are
// protected, a protected file that does not exist, and a drop box.
func typical() policy.Effective {
	entry := func(p string, a policy.Access, k policy.Kind, t policy.FileType) policy.Entry {
		return policy.Entry{Path: p, Access: a, Kind: k, Type: t, Rule: policy.Rule{Text: "rule for " + p}}
	}
	return policy.Effective{
		Area: policy.NewArea(
			entry("/Users/u", policy.None, policy.Private, policy.TypeDir),
			entry("/private/tmp", policy.None, policy.Private, policy.TypeDir),
			entry("/dev", policy.None, policy.Private, policy.TypeDir),
			entry("/Users/u/w", policy.ReadWrite, policy.Granted, policy.TypeDir),
			entry("/Users/u/w/conf/prod/.env", policy.None, policy.Hidden, policy.TypeFile),
			entry("/Users/u/w/.git/hooks", policy.Read, policy.Protected, policy.TypeDir),
			entry("/Users/u/w/.git/config", policy.Read, policy.Protected, policy.TypeFile),
			entry("/Users/u/w/.husky/hooks", policy.Read, policy.Protected, policy.TypeMissing),
			entry("/Users/u/lib", policy.Read, policy.Granted, policy.TypeDir),
			entry("/Users/u/drop", policy.Write, policy.Granted, policy.TypeDir),
			entry("/Users/u/agent.sock", policy.Read, policy.Granted, policy.TypeSocket),
		),
		Places:  policy.Places{Home: "/Users/u", Cwd: "/Users/u/w"},
		Sockets: policy.Sockets{Own: true, Paths: []string{"/Users/u/agent.sock"}},
	}
}

// TestAttacks asks for whole actions, each with a control: the same kind of
// action on a path that the policy gives, which must pass.
func TestAttacks(t *testing.T) {
	t.Parallel()
	p := compileProfile(t, mustRender(t, typical(), Run{Private: []string{"/private/var/folders/zz/T/sbx-7/tmp"}}))
	for _, tc := range []struct{ name, attack, control string }{
		{"read a hidden file", "read /Users/u/w/conf/prod/.env", "read /Users/u/w/conf/prod/other"},
		{"look at it", "stat /Users/u/w/conf/prod/.env", "stat /Users/u/w/conf/prod/other"},
		{"through a link", "read /Users/u/w/conf/prod/.env via /Users/u/w/link", "read /Users/u/lib/x via /Users/u/w/link"},
		{"move it out", "rename /Users/u/w/conf/prod/.env /Users/u/w/out", "rename /Users/u/w/conf/prod/x /Users/u/w/out"},
		{"move its directory", "rename /Users/u/w/conf/prod /Users/u/w/out", "rename /Users/u/w/conf/other /Users/u/w/out"},
		{"move a directory above", "rename /Users/u/w/conf /Users/u/w/out", "rename /Users/u/w/conf2 /Users/u/w/out"},
		{"move the root of the grant", "rename /Users/u/w /Users/u/w2", "rename /Users/u/w/a /Users/u/w/w2"},
		{"replace its directory", "rename /Users/u/w/x /Users/u/w/conf over", "rename /Users/u/w/x /Users/u/w/y over"},
		{"link it", "link /Users/u/w/conf/prod/.env /Users/u/w/out", "link /Users/u/w/x /Users/u/w/out"},
		{"clone it", "clone /Users/u/w/conf/prod/.env /Users/u/w/out", "clone /Users/u/lib/x /Users/u/w/out"},
		{"clone its directory", "clone-tree /Users/u/w/conf /Users/u/w/out", "clone /Users/u/w/x /Users/u/w/out"},
		{"execute it", "exec /Users/u/w/conf/prod/.env", "exec /Users/u/w/tool"},
		{"write a hook", "create /Users/u/w/.git/hooks/pre-commit", "create /Users/u/w/.git/objects/aa"},
		{"change a hook's mode", "chmod /Users/u/w/.git/hooks/pre-commit", "chmod /Users/u/w/.git/index"},
		{"link a read-only file into the open", "link /Users/u/lib/x /Users/u/w/alias", "link /Users/u/w/x /Users/u/w/alias"},
		{"move the repository", "rename /Users/u/w/.git /Users/u/w/git", "rename /Users/u/w/.gitx /Users/u/w/git"},
		{"write the configuration", "write /Users/u/w/.git/config", "write /Users/u/w/.git/index"},
		{"remove the configuration", "unlink /Users/u/w/.git/config", "unlink /Users/u/w/.git/index"},
		{"make an absent protected place", "create /Users/u/w/.husky/hooks", "create /Users/u/w/.huskyx"},
		{"plant a tree above it", "rename /Users/u/w/x /Users/u/w/.husky", "rename /Users/u/w/x /Users/u/w/.husky2"},
		{"make the directory above it", "create /Users/u/w/.husky", "create /Users/u/w/husky"},
		{"in another case", "create /Users/u/w/.HUSKY", "create /Users/u/w/HUSKY"},
		{"protected in another case", "create /Users/u/w/.GIT/Hooks/post-merge", "create /Users/u/w/.GIT/Objects/aa"},
		{"read a drop box", "read /Users/u/drop/x", "create /Users/u/drop/x"},
		{"list a drop box", "list /Users/u/drop", "write /Users/u/drop/x"},
		{"move out of a drop box", "rename /Users/u/drop/x /Users/u/w/x", "rename /Users/u/w/x /Users/u/drop/x"},
		{"link out of a drop box", "link /Users/u/drop/x /Users/u/w/x", "link /Users/u/w/x /Users/u/drop/x"},
		{"set a setuid bit", "chmod-setuid /Users/u/w/tool", "chmod /Users/u/w/tool"},
		{"list the home", "list /Users/u", "stat /Users/u"},
		{"read a key", "read /Users/u/.ssh/id", "read /Users/u/lib/x"},
		{"read another's temporary file", "read /private/tmp/x", "read /private/var/folders/zz/T/sbx-7/tmp/x"},
		{"the data volume's name", "read /System/Volumes/Data/Users/u/.ssh/id", "read /System/Library/x"},
		{"write the system", "write /usr/bin/env", "read /usr/bin/env"},
		{"remove a device", "unlink /dev/null", "write /dev/null"},
		{"a raw disk", "read /dev/rdisk0", "read /dev/urandom"},
		{"another's terminal", "write /dev/ttys001", "write /dev/null"},
		{"a daemon's socket", "connect-unix /private/var/run/docker.sock", "connect-unix /Users/u/agent.sock"},
		{"a socket in the project", "connect-unix /Users/u/w/s", "connect-unix /private/var/folders/zz/T/sbx-7/tmp/s"},
		{"bind in the project", "bind-unix /Users/u/w/s", "bind-unix /private/var/folders/zz/T/sbx-7/tmp/s"},
		{"another's arguments", "sysctl kern.procargs2", "sysctl hw.ncpu"},
		{"another's processes", "pidinfo others", "pidinfo self"},
		{"signal others", "kill others", "kill same-sandbox"},
		{"the keychain", "lookup com.apple.SecurityServer", "lookup com.apple.logd"},
		{"open a program", "lookup com.apple.coreservices.launchservicesd", "lookup com.apple.system.logger"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, s := range readings {
				assert.False(t, p.Allows(action(t, tc.attack), s), "%s under %s", tc.attack, s)
				if !s.FoldCase { // names that differ in case are one name then
					assert.True(t, p.Allows(action(t, tc.control), s), "%s under %s", tc.control, s)
				}
			}
		})
	}
}

func TestNetworkActions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name        string
		mode        policy.NetworkMode
		port        int
		allow, deny []string
	}{
		{"off", policy.NetworkOff, 0, nil,
			[]string{"connect tcp 127.0.0.1:80", "connect udp 9.9.9.9:53", "bind tcp 127.0.0.1:8080", "connect-unix /private/var/run/mDNSResponder", "lookup com.apple.trustd.agent"}},
		{"proxy", policy.NetworkList, 3128, []string{"connect tcp 127.0.0.1:3128", "connect tcp [::1]:3128", "lookup com.apple.trustd.agent"},
			[]string{"connect tcp 127.0.0.1:3129", "connect tcp 93.184.216.34:3128", "connect tcp [::ffff:127.0.0.1]:3128", "bind tcp 127.0.0.1:3128", "listen tcp 127.0.0.1:8080", "connect-unix /private/var/run/mDNSResponder"}},
		{"on", policy.NetworkOn, 0,
			[]string{"connect tcp 93.184.216.34:443", "connect udp 9.9.9.9:53", "listen tcp 0.0.0.0:8080", "connect-unix /private/var/run/mDNSResponder"},
			[]string{"connect-unix /private/var/run/docker.sock"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := typical()
			e.Network.Mode = tc.mode
			p := compileProfile(t, mustRender(t, e, Run{ProxyPort: tc.port}))
			for _, s := range readings {
				for _, a := range tc.allow {
					assert.True(t, p.Allows(action(t, a), s), "%s under %s", a, s)
				}
				for _, a := range tc.deny {
					assert.False(t, p.Allows(action(t, a), s), "%s under %s", a, s)
				}
			}
		})
	}
}

func action(t *testing.T, text string) sbpltest.Action {
	t.Helper()
	a, err := sbpltest.ParseAction(strings.Fields(text))
	require.NoError(t, err)
	return a
}
