package launcher

import (
	"path"
	"slices"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// passed is the whole list of variables that every command gets from the
// caller: the terminal, the language and who is asking. Nothing here can hold
// a secret or point a program elsewhere.
var passed = []string{
	"TERM", "COLORTERM", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE",
	"LANG", "LANGUAGE", "LC_*", "TZ", "USER", "LOGNAME",
}

// defaultPath serves a command whose caller has no visible PATH.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// Home returns the directory that a command finds as its home.
func Home(e policy.Effective) string {
	if e.Places.Home == "" || e.Places.Home == "/" {
		return "/tmp"
	}
	return e.Places.Home
}

// Environment returns what a command gets: the short pass list, what the
// policy adds, and the variables that say where it is. host is the caller's
// environment, dir the command's working directory.
func Environment(e policy.Effective, host []string, dir string) []string {
	values := map[string]string{}
	for _, v := range host {
		name, value, ok := strings.Cut(v, "=")
		if ok && (passes(passed, name) || passesPolicy(e.Env.Pass, name)) {
			values[name] = value
		}
		if name == "PATH" {
			values[name] = visiblePath(e, value)
		}
	}
	if values["PATH"] == "" {
		values["PATH"] = defaultPath
	}
	values["HOME"] = Home(e)
	values["TMPDIR"] = "/tmp"
	values["PWD"] = dir
	values["SBX"] = "1"
	for _, v := range e.Env.Set {
		values[v.Name] = v.Value
	}
	env := make([]string, 0, len(values))
	for name, value := range values {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// passesPolicy applies the policy's own list. A pattern never passes a name
// that looks like a secret; the exact name does. Loader variables are refused
// where a policy is read; here they do not pass a wider pattern either.
func passesPolicy(list []string, name string) bool {
	if policy.LoaderVariable(name) {
		return false
	}
	return slices.Contains(list, name) || !looksSecret(name) && passes(list, name)
}

func passes(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

var secretWords = []string{"TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "APIKEY", "API_KEY",
	"ACCESS_KEY", "PRIVATE_KEY", "AUTH", "COOKIE", "SESSION", "DSN", "DATABASE_URL", "CONNECTION_STRING"}

func looksSecret(name string) bool {
	upper := strings.ToUpper(name)
	return strings.HasSuffix(upper, "_KEY") || slices.ContainsFunc(secretWords, func(w string) bool {
		return strings.Contains(upper, w)
	})
}

// visiblePath keeps the directories of a PATH that the sandbox shows, in
// their order. Relative ones are dropped: they mean another place inside.
func visiblePath(e policy.Effective, list string) string {
	var kept []string
	for dir := range strings.SplitSeq(list, ":") {
		clean, err := policy.Clean(dir)
		if err != nil || slices.Contains(kept, clean) || !mayShow(e, clean) && !systemShows(e, clean) {
			continue
		}
		r, d, err := e.Look(policy.Read, clean)
		if err == nil && r.Type == policy.TypeDir && (d.Allowed || systemShows(e, r.Path)) {
			kept = append(kept, clean)
		}
	}
	return strings.Join(kept, ":")
}

// mayShow rules out, without a look at the host, what lies neither in a
// visible place nor behind a link that the sandbox shows.
func mayShow(e policy.Effective, p string) bool {
	return e.CanRead(p) || slices.ContainsFunc(e.Links, func(l policy.Link) bool {
		return policy.Contains(l.Path, p)
	})
}
