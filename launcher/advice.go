package launcher

import (
	"os"
	"path"
	"strings"

	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// grantAdvice says which grant would show a command that the host has and the
// sandbox does not.
func grantAdvice(plan platform.Plan, cmd Command) string {
	for _, p := range hostCandidates(cmd, plan.Effective.Places.Cwd) {
		info, err := os.Stat(p)
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		e := plan.Effective
		r, d, err := e.Look(policy.Read, p)
		if err != nil || d.Allowed {
			continue
		}
		if flag := e.AllowWith(policy.Read, r, d); flag != "" {
			return "the host has " + p + "; " + flag + " would show it"
		}
	}
	return ""
}

func hostCandidates(cmd Command, cwd string) []string {
	name := cmd.Argv[0]
	if strings.HasPrefix(name, "/") {
		return []string{path.Clean(name)}
	}
	if strings.Contains(name, "/") {
		return []string{path.Join(cwd, name)}
	}
	var candidates []string
	for _, dir := range strings.Split(os.Getenv("PATH"), ":") {
		if strings.HasPrefix(dir, "/") {
			candidates = append(candidates, path.Join(dir, name))
		}
	}
	return candidates
}

// interpreterAdvice names the interpreter of a script or a binary that the
// sandbox lacks.
func interpreterAdvice(plan platform.Plan, program string) string {
	f, err := os.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 || !strings.HasPrefix(words[0], "/") {
		return "it needs its dynamic loader; --system minimal has the usual ones"
	}
	e := plan.Effective
	r, d, err := e.Look(policy.Read, path.Clean(words[0]))
	if err != nil || d.Allowed || r.Type == policy.TypeMissing {
		return "the interpreter " + words[0] + " does not exist"
	}
	return e.AllowWith(policy.Read, r, d) + " would show it"
}
