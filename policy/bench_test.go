package policy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchmarkSandbox has an area of 10,000 entries: a read-only root with
// writable mounts in it.
func benchmarkSandbox(b *testing.B) Sandbox {
	b.Helper()
	root := tree(b, "a/b/")
	spec := Spec{Form: RootForm, Mounts: []Mount{mountAt(b, "/", root, ReadOnly)}}
	for i := range 9_999 {
		spec.Mounts = append(spec.Mounts, Mount{
			Root: fmt.Sprintf("%s/project-%d/module-%d/source", root, i/100, i%100), Mode: ReadAndWrite, Type: TypeDir,
		})
	}
	s, err := New(spec)
	require.NoError(b, err)
	require.Len(b, s.area.Entries(), 10_000)
	return s
}

func BenchmarkCanRead(b *testing.B) {
	e := Effective{Area: largeArea(10_000)}
	p := "/srv/project-77/module-42/source/deep/below/entry.go"
	require.True(b, e.CanRead(p))
	b.ReportAllocs()
	for b.Loop() {
		e.CanRead(p)
	}
}

func BenchmarkDecide(b *testing.B) {
	e := Effective{Area: largeArea(10_000)}
	b.ReportAllocs()
	for b.Loop() {
		e.Decide(Read, "/srv/project-77/module-42/source/deep/below/entry.go")
	}
}

func BenchmarkCanReadWithPatterns(b *testing.B) {
	e := Effective{Area: largeArea(10_000), Denies: []Deny{mustDeny(b, ".env", "/srv", ""), mustDeny(b, "**/*.pem", "/srv", "")}}
	b.ReportAllocs()
	for b.Loop() {
		e.CanRead("/srv/project-77/module-42/source/deep/below/entry.go")
	}
}

func BenchmarkDerive(b *testing.B) {
	s := benchmarkSandbox(b)
	for name, r := range map[string]Request{
		"restrict": {Restrict: "/"}, "readonly": {Inherit: true, Readonly: new(true)}, "list": {AllowRead: []string{"/a", "/project-7"}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := s.Derive(r)
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkSandboxCanRead(b *testing.B) {
	s := benchmarkSandbox(b)
	for b.Loop() {
		s.CanRead("/a/b/c")
	}
}

func BenchmarkNewWith1000Denies(b *testing.B) {
	root := tree(b, "a/")
	spec := Spec{Form: RootForm, Mounts: []Mount{mountAt(b, "/", root, ReadAndWrite)}}
	for i := range 1000 {
		spec.Denies = append(spec.Denies, mustDeny(b, fmt.Sprintf("./a/secret-%d", i), root, ""))
	}
	for b.Loop() {
		_, err := New(spec)
		require.NoError(b, err)
	}
}
