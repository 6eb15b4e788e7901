package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
	"github.com/sbx-run/sbx/policy/files"
)

// registerAttach adds the flag that hands files on.
func (f *policyFlags) registerAttach(s *pflag.FlagSet) {
	repeatable(s, &f.attach, "attach", "hand `FILE` to the command, read-only; the caller must be able to read it (repeatable)")
}

// attached adds the files that the caller hands on. The caller is the sandbox
// that this process runs in, or else the program before it was narrowed.
func attached(callee, caller policy.Sandbox, bounds *config.Attachments, paths []string) (policy.Sandbox, error) {
	if len(paths) == 0 {
		return callee, nil
	}
	caller = caller.ByNumber()
	e := caller.Effective()
	asked := make(map[string]string, len(paths)) // sandbox path -> as written
	var inside []string
	for _, p := range paths {
		host := p
		if !strings.HasPrefix(host, "/") {
			host = callee.Effective().Places.Cwd + "/" + host
		}
		r, d, err := e.Look(policy.Read, host)
		if err != nil {
			return callee, &policy.InvalidPathError{Op: policy.Read, Path: p, Problem: err.Error()}
		}
		name, named := caller.SandboxPath(r.Path)
		if !d.Allowed || !named {
			return callee, &policy.PathNotInSandboxError{Op: policy.Read, Path: p, Boundary: e.ReadableAsWritten()}
		}
		asked[name] = p
		inside = append(inside, name)
	}
	list, err := files.New(caller).Attach(attachmentPolicy(bounds), inside...)
	if err != nil {
		return callee, asWritten(err, asked)
	}
	hosts := make([]string, len(list))
	for i, a := range list {
		hosts[i] = a.Host
	}
	return callee.Attach(caller, hosts...)
}

func attachmentPolicy(a *config.Attachments) files.AttachmentPolicy {
	if a == nil {
		return files.AttachmentPolicy{}
	}
	p := files.AttachmentPolicy{MaxCount: int(a.MaxCount.V), MaxBytes: a.MaxBytes.V}
	for _, s := range a.Suffixes {
		p.Suffixes = append(p.Suffixes, s.V)
	}
	return p
}

// asWritten names the file of a refusal the way the command line does.
func asWritten(err error, asked map[string]string) error {
	var path *string
	switch e := err.(type) {
	case *files.AttachmentError:
		path = &e.Path
	case *files.NotFoundError:
		path = &e.Path
	case *files.WrongTypeError:
		path = &e.Path
	case *policy.PathNotInSandboxError:
		path = &e.Path
	case *policy.SuffixNotAllowedError:
		path = &e.Path
	case *policy.FileTooLargeError:
		path = &e.Path
	case *policy.InvalidPathError:
		path = &e.Path
	default:
		return err
	}
	if p, ok := asked[*path]; ok {
		*path = p
	}
	return err
}
