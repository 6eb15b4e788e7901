package launcher_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/policy"
)

func TestEnvironment(t *testing.T) {
	host := []string{
		"HOME=/home/real", "PATH=/no/such/dir:/usr/bin:relative:/usr/bin:/root/bin:/bin", "PWD=/elsewhere", "SHELL=/bin/zsh",
		"LANG=C.UTF-8", "LC_TIME=de_DE", "TERM=xterm", "USER=u", "TMPDIR=/var/tmp/mine",
		"CI=true", "CI_JOB=7", "CI_JOB_TOKEN=s3cret", "CI_REGISTRY_PASSWORD=s3cret", "APP_KEY=s3cret", "APP_NAME=app",
		"AWS_SECRET_ACCESS_KEY=s3cret", "SSH_AUTH_SOCK=/run/agent", "DBUS_SESSION_BUS_ADDRESS=unix:/run/bus", "LD_PRELOAD=/x.so", "LD_LIBRARY_PATH=/x", "GLIBC_TUNABLES=x", "=odd", "novalue",
	}
	always := []string{"HOME", "LANG", "LC_TIME", "PATH", "PWD", "SBX", "TERM", "TMPDIR", "USER"}
	for _, row := range []struct {
		name string
		env  policy.Environment
		more []string // names beyond those that every command gets
		want []string // NAME=VALUE among them
	}{
		{"nothing asked", policy.Environment{}, nil, []string{"SBX=1", "TMPDIR=/tmp", "PWD=/work", "LANG=C.UTF-8"}},
		{"a name", policy.Environment{Pass: []string{"CI"}}, []string{"CI"}, []string{"CI=true"}},
		{"a name that the caller lacks", policy.Environment{Pass: []string{"ABSENT"}}, nil, nil},
		{"a pattern passes no secret", policy.Environment{Pass: []string{"CI_*", "APP_*"}}, []string{"CI_JOB", "APP_NAME"}, nil},
		{"a pattern for everything", policy.Environment{Pass: []string{"*A*"}}, []string{"APP_NAME"}, nil},
		{"a secret by its name", policy.Environment{Pass: []string{"CI_JOB_TOKEN"}}, []string{"CI_JOB_TOKEN"}, []string{"CI_JOB_TOKEN=s3cret"}},
		{"a loader variable", policy.Environment{Pass: []string{"LD_PRELOAD", "LD_*", "GLIBC_TUNABLES"}}, nil, nil},
		{"a value", policy.Environment{Set: []policy.Variable{{Name: "LANG", Value: "C"}, {Name: "NEW", Value: "a=b"}}}, []string{"NEW"}, []string{"LANG=C", "NEW=a=b"}},
		{"a value wins over a pattern", policy.Environment{Pass: []string{"APP_*"}, Set: []policy.Variable{{Name: "APP_NAME", Value: "set"}}}, []string{"APP_NAME"}, []string{"APP_NAME=set"}},
		{"PATH is never the caller's", policy.Environment{Pass: []string{"PATH", "HOME", "TMPDIR"}}, nil, []string{"TMPDIR=/tmp"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := sandbox{}.plan(t).Effective
			e.Env = row.env
			got := launcher.Environment(e, host, "/work")
			var names []string
			for _, v := range got {
				name, value, _ := strings.Cut(v, "=")
				names = append(names, name)
				if name == "PATH" {
					assert.True(t, value == "/usr/bin:/bin" || value == "/usr/bin", value)
				}
				if name == "HOME" {
					assert.Equal(t, e.Places.Home, value)
				}
			}
			want := slices.Concat(always, row.more)
			slices.Sort(want)
			assert.Equal(t, want, names)
			assert.Subset(t, got, row.want)
		})
	}
}

func TestEnvironmentWithoutPath(t *testing.T) {
	e := sandbox{}.plan(t).Effective
	for _, host := range [][]string{nil, {"PATH="}, {"PATH=/no/such/dir"}} {
		assert.Contains(t, launcher.Environment(e, host, "/"), "PATH=/usr/local/bin:/usr/bin:/bin")
	}
}
