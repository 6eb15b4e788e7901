package bwrap_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/bwrap"
	"github.com/sbx-run/sbx/policy"
)

var update = flag.Bool("update", false, "write the goldens again")

// of makes an Effective without looking at any host.
func of(entries ...policy.Entry) policy.Effective {
	return policy.Effective{Area: policy.NewArea(entries...)}
}

func entry(p string, a policy.Access, k policy.Kind, t policy.FileType) policy.Entry {
	return policy.Entry{Path: p, Access: a, Kind: k, Type: t}
}

func grant(p string, a policy.Access) policy.Entry {
	return entry(p, a, policy.Granted, policy.TypeDir)
}

func hidden(p string, t policy.FileType) policy.Entry {
	return entry(p, policy.None, policy.Hidden, t)
}

func protected(p string, t policy.FileType) policy.Entry {
	return entry(p, policy.Read, policy.Protected, t)
}

func private(p string) policy.Entry { return entry(p, policy.None, policy.Private, policy.TypeDir) }

// base is a system base as a merged-/usr host has it.
func base(entries ...policy.Entry) []policy.Entry {
	return append([]policy.Entry{
		entry("/usr", policy.Read, policy.System, policy.TypeDir),
		entry("/etc/hosts", policy.Read, policy.System, policy.TypeFile),
		entry("/etc/ssl/certs", policy.Read, policy.System, policy.TypeDir),
		private("/dev"), private("/proc"), private("/tmp"), private("/home/u"),
	}, entries...)
}

func cases() map[string]policy.Effective {
	links := of(base(grant("/w", policy.ReadWrite))...)
	links.Links = []policy.Link{{Path: "/lib", Target: "usr/lib"}, {Path: "/bin", Target: "usr/bin"}, {Path: "/home/u/l", Target: "/w"}, {Path: "/w/inner", Target: "a"}, {Path: "/bin", Target: "usr/bin"}}
	limited := of(base()...)
	limited.Limits.Tmp = 64 << 20
	return map[string]policy.Effective{
		"system-minimal": of(base()...),
		"system-none":    of(private("/dev"), private("/proc"), private("/tmp")),
		"system-host": of(base(entry("/etc", policy.Read, policy.System, policy.TypeDir), hidden("/etc/shadow", policy.TypeFile),
			hidden("/etc/ssh", policy.TypeDir), hidden("/etc/none", policy.TypeMissing), entry("/opt", policy.Read, policy.System, policy.TypeDir))...),
		"nesting": of(grant("/w", policy.Read), grant("/w/a", policy.ReadWrite), grant("/w/a/b/c", policy.Read), grant("/w/a/b/c/d", policy.ReadWrite), grant("/w/a/e", policy.ReadWrite)),
		"masks": of(grant("/w", policy.ReadWrite), hidden("/w/.env", policy.TypeFile), hidden("/w/a/b/secret", policy.TypeDir), grant("/w/a/b/secret/shown", policy.Read),
			hidden("/w/sock", policy.TypeSocket), hidden("/w/later", policy.TypeMissing), grant("/r", policy.Read), hidden("/r/a/key", policy.TypeFile), hidden("/r/later", policy.TypeMissing)),
		"pins": of(grant("/w", policy.ReadWrite), protected("/w/.git/hooks", policy.TypeDir), protected("/w/.git/config", policy.TypeFile), protected("/w/.envrc", policy.TypeFile),
			protected("/w/vendor/a/.git/hooks", policy.TypeDir), protected("/w/vendor/b/.git/hooks", policy.TypeDir)),
		"protected-absent": of(grant("/w", policy.ReadWrite), protected("/w/.vscode", policy.TypeMissing), grant("/w/new", policy.ReadWrite)),
		"private-in-grant": of(private("/tmp"), grant("/home", policy.ReadWrite), private("/home/u/tmp"), grant("/home/u/tmp/kept", policy.Read)),
		"grant-in-private": of(base(grant("/tmp/w", policy.ReadWrite), grant("/home/u/w", policy.Read), entry("/home/u/file", policy.ReadWrite, policy.Granted, policy.TypeFile))...),
		"grant-in-system":  of(base(grant("/usr/local", policy.ReadWrite), entry("/etc/ssl/certs/own.pem", policy.ReadWrite, policy.Granted, policy.TypeFile))...),
		"links":            links,
		"drop-box":         of(grant("/in", policy.Write), grant("/in/out", policy.Read), grant("/w", policy.Read), grant("/w/box", policy.Write)),
		"root":             of(grant("/", policy.ReadWrite), private("/tmp"), private("/dev"), private("/proc"), protected("/w/.git/hooks", policy.TypeDir)),
		"limits":           limited,
		"odd-names":        of(grant("/w/a b", policy.ReadWrite), grant("/w/two\nlines", policy.Read), grant("/w/caf\xe9", policy.Read), grant("/w/--bind", policy.Read)),
	}
}

// TestGolden holds each view as its layout and its arguments.
func TestGolden(t *testing.T) {
	for name, e := range cases() {
		t.Run(name, func(t *testing.T) {
			layout, err := bwrap.NewLayout(e)
			require.NoError(t, err)
			compareGolden(t, name+".golden", describe(layout)+"\n"+lines(bwrap.Args(layout, bwrap.Options{Features: bwrap.AllFeatures()})))
		})
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run with -update to make it")
	assert.Equal(t, string(want), got)
}

// describe writes a layout one mount a line.
func describe(l bwrap.Layout) string {
	var b bytes.Buffer
	for _, m := range l.Mounts {
		fmt.Fprintf(&b, "%-9s %q", m.Op, m.Path)
		if m.Target != "" {
			fmt.Fprintf(&b, " -> %q", m.Target)
		}
		if m.Size > 0 {
			fmt.Fprintf(&b, " size %d", m.Size)
		}
		b.WriteByte('\n')
	}
	for _, p := range l.WriteOnly {
		fmt.Fprintf(&b, "write-only %q\n", p)
	}
	for _, e := range l.Absent {
		fmt.Fprintf(&b, "absent    %q\n", e.Path)
	}
	return b.String()
}

// lines writes arguments one option with its values a line.
func lines(args []string) string {
	var b strings.Builder
	for i, arg := range args {
		switch {
		case i == 0:
		case strings.HasPrefix(arg, "--"):
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		if strings.ContainsAny(arg, " \n\xe9") {
			arg = fmt.Sprintf("%q", arg)
		}
		b.WriteString(arg)
	}
	return b.String() + "\n"
}

// TestHideUnknown: what cannot be looked at may be a file or a directory, and
// the wrong mask is none.
func TestHideUnknown(t *testing.T) {
	_, err := bwrap.NewLayout(of(grant("/w", policy.Read), hidden("/w/x", policy.TypeUnknown)))
	assert.EqualError(t, err, "cannot look at /w/x, so it cannot be hidden safely")
	_, err = bwrap.NewLayout(of(hidden("/w/x", policy.TypeUnknown)))
	assert.NoError(t, err, "nothing of the host shows there")
}

func TestOpNames(t *testing.T) {
	seen := map[string]bool{}
	for op := bwrap.ROBind; op <= bwrap.Proc; op++ {
		assert.False(t, seen[op.String()], op)
		seen[op.String()] = true
		assert.Equal(t, op <= bwrap.Copy, op.FromHost(), op)
	}
}
