package policy_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// programDir makes a directory with a program in it.
func programDir() string {
	dir, err := os.MkdirTemp("", "program")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"src/main.go", "src/a.go", "docs/x.md"} {
		_ = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		_ = os.WriteFile(filepath.Join(dir, name), nil, 0o644)
	}
	r, err := policy.Resolve(dir)
	if err != nil {
		panic(err)
	}
	return r.Path
}

// program is the sandbox of one directory, mounted at the virtual "/".
func program(dir string, mode policy.Mode) policy.Sandbox {
	s, err := policy.New(policy.Spec{
		Form:   policy.RootForm,
		Mounts: []policy.Mount{{Name: "/", Root: dir, Written: ".", Mode: mode, Type: policy.TypeDir}},
	})
	if err != nil {
		panic(err)
	}
	return s
}

// A program's sandbox: one directory is the virtual root.
func ExampleNew() {
	dir := programDir()
	defer os.RemoveAll(dir)

	sandbox := program(dir, policy.ReadAndWrite)
	host, err := sandbox.Resolve("/src/main.go")
	fmt.Println(strings.TrimPrefix(host, dir), err)
	fmt.Println(sandbox.CanWrite("/src/new.go"))
	fmt.Println(sandbox.CanWrite("/tmp/x")) // outside
	// Output:
	// /src/main.go <nil>
	// true
	// false
}

// Workers get children: nothing by default, and never more than the program.
func ExampleSandbox_Derive() {
	dir := programDir()
	defer os.RemoveAll(dir)
	sandbox := program(dir, policy.ReadAndWrite)

	empty, _ := sandbox.Derive(policy.Request{})
	fmt.Println(empty.CanRead("/src/a.go"))

	analyzer, _ := sandbox.Derive(policy.Request{AllowRead: []string{"/src"}, Readonly: new(true)})
	fmt.Println(analyzer.CanRead("/src/a.go"), analyzer.CanWrite("/src/a.go"))
	_, err := analyzer.Resolve("/docs/x.md")
	fmt.Println(err)
	// Output:
	// false
	// true false
	// Cannot access '/docs/x.md': path is outside sandbox.
	// Readable paths: /src
}

// Asking for more than the parent has is an error that says what would do.
func ExamplePermissionEscalationError() {
	dir := programDir()
	defer os.RemoveAll(dir)

	_, err := program(dir, policy.ReadOnly).Derive(policy.Request{Inherit: true, Readonly: new(false)})
	var escalation *policy.PermissionEscalationError
	fmt.Println(errors.As(err, &escalation))
	fmt.Println(err)
	// Output:
	// true
	// Cannot create child sandbox with readonly=False: parent sandbox is readonly. Child sandboxes may only restrict access.
	// Valid alternatives: readonly=True; no readonly at all
}

// Explain says which rule decided, for a person who wants to change it.
func ExampleSandbox_Explain() {
	dir := programDir()
	defer os.RemoveAll(dir)

	deny, _ := policy.ParseDeny("*.key", dir, "", policy.Rule{File: "sbx.yaml", Line: 4, Text: "deny *.key"})
	sandbox, _ := policy.New(policy.Spec{
		Mounts: []policy.Mount{{Name: "docs", Root: dir + "/docs", Written: "./docs", Type: policy.TypeDir}},
		Denies: []policy.Deny{deny},
	})
	for _, p := range []string{"docs/x.md", "docs/tls.key"} {
		x := sandbox.Explain(policy.Read, p)
		fmt.Printf("%s: %v, %s\n", p, x.Allowed, x.Reason)
	}
	fmt.Println(sandbox.Explain(policy.Read, "docs/tls.key").Entry.Rule)
	// Output:
	// docs/x.md: true, granted read-only
	// docs/tls.key: false, hidden by deny *.key
	// sbx.yaml:4
}
