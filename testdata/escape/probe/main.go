//go:build linux

// Command probe carries out one attack of the escape suite and says how it
// went. It runs inside the sandbox under test and, as the control arm, outside
// of any.
//
// # Model
//
// A verb is one attack: "probe VERB ARG...". Steps joined by ";" are one
// attack in several moves, which ends at the first move that is stopped. The
// answer is one line of JSON:
//
//	{"verdict":"allowed|blocked|not-applicable","errno":"EPERM","detail":"..."}
//
// # Invariants
//
//   - A verdict is about the effect: the secret was read, the listener has
//     answered, the limit is passed. A call that returned 0 on a masked file is
//     blocked. Effects on the host's side are looked at by the runner.
//   - An attack that succeeds does no lasting harm: what is dangerous is
//     opened and not written, set to the value that it has, or given arguments
//     that fail after the permission check.
//   - not-applicable means that this machine lacks what is attacked. It never
//     stands for "hidden from me".
//
// It is static and needs nothing of the host but a kernel. The Go tool passes
// over testdata in ./..., so it is built and vetted by its path:
// go vet ./testdata/escape/probe.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// secret is in every file, answer, key and variable of the host that must not
// be found, planted in everything that an attack writes.
const (
	secret  = "secret-of-the-host"
	planted = "planted-by-the-probe"
)

// verb is an attack with the number of arguments that it takes at least.
type verb struct {
	args int
	do   func(args []string) verdict
}

func verbs() map[string]verb {
	all := map[string]verb{}
	for _, group := range []map[string]verb{
		fileVerbs(), metadataVerbs(), descriptorVerbs(), mountVerbs(), namespaceVerbs(), networkVerbs(),
		socketVerbs(), ringVerbs(), ipcVerbs(), processVerbs(), memoryVerbs(), kernelVerbs(), privilegeVerbs(),
		terminalVerbs(), resourceVerbs(), workVerbs(),
	} {
		for name, v := range group {
			if _, twice := all[name]; twice {
				panic("two verbs are called " + name)
			}
			all[name] = v
		}
	}
	return all
}

func main() {
	// Keyrings and namespaces belong to a thread.
	runtime.LockOSThread()
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: probe VERB ARG... [; VERB ARG...]")
		os.Exit(2)
	}
	if help, ok := helpers()[os.Args[1]]; ok {
		help(os.Args[2:])
		return
	}
	report(perform(os.Args[1:]))
}

// perform carries out the steps and returns the verdict on the last one, or
// on the first that did not get through.
func perform(args []string) verdict {
	known := verbs()
	for {
		step, rest := args, []string(nil)
		if i := slices.Index(args, ";"); i >= 0 {
			step, rest = args[:i], args[i+1:]
		}
		v, ok := known[step[0]]
		if !ok || len(step)-1 < v.args {
			fmt.Fprintf(os.Stderr, "probe: no such attack: %q\n", step)
			os.Exit(2)
		}
		verdict := v.do(step[1:])
		if verdict.Verdict != "allowed" || rest == nil {
			return verdict
		}
		args = rest
	}
}

// verdict is the answer to one attack.
type verdict struct {
	Verdict string `json:"verdict"`
	Errno   string `json:"errno,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

func allowed(format string, args ...any) verdict {
	return verdict{Verdict: "allowed", Detail: fmt.Sprintf(format, args...)}
}

// blocked names the error number where a system call gave one.
func blocked(err error) verdict {
	v := verdict{Verdict: "blocked", Detail: err.Error()}
	var errno unix.Errno
	if errors.As(err, &errno) {
		v.Errno = unix.ErrnoName(errno)
	}
	return v
}

func blockedFor(format string, args ...any) verdict {
	return verdict{Verdict: "blocked", Detail: fmt.Sprintf(format, args...)}
}

func notApplicable(format string, args ...any) verdict {
	return verdict{Verdict: "not-applicable", Detail: fmt.Sprintf(format, args...)}
}

// outcome is allowed if err is nil.
func outcome(err error, detail string) verdict {
	if err != nil {
		return blocked(err)
	}
	return allowed("%s", detail)
}

// report prints the verdict on stdout and, because an attack may have spoilt
// that, on stderr.
func report(v verdict) {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err) // three strings always have a JSON form
	}
	fmt.Fprintln(os.Stderr, string(line))
	fmt.Println(string(line))
}

// sys is a raw system call without a result of interest.
func sys(number uintptr, args ...uintptr) error {
	_, err := sysResult(number, args...)
	return err
}

func sysResult(number uintptr, args ...uintptr) (uintptr, error) {
	var a [6]uintptr
	copy(a[:], args)
	r, _, errno := unix.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return 0, errno
	}
	return r, nil
}
