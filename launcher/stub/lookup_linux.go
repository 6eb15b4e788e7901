package stub

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// lookup finds the program as execvp(3) does, in the sandbox's own view. The
// first executable match counts; if there are only others, the refusal of the
// first of them is reported.
func lookup(name string, dirs []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, probe(name)
	}
	var refused error
	for _, dir := range dirs {
		p := strings.TrimSuffix(dir, "/") + "/" + name
		err := probe(p)
		if err == nil {
			return p, nil
		}
		var f *Failure
		if refused == nil && errors.As(err, &f) && f.Errno != int(unix.ENOENT) && f.Errno != int(unix.ENOTDIR) {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", &Failure{Stage: StageLookup, Path: name, Errno: int(unix.ENOENT), Text: "command not found"}
}

// probe reports why a file cannot be executed.
func probe(p string) error {
	var st unix.Stat_t
	if err := unix.Stat(p, &st); err != nil {
		return fail(StageLookup, p, err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return fail(StageLookup, p, unix.EISDIR)
	}
	return fail(StageLookup, p, unix.Faccessat(unix.AT_FDCWD, p, unix.X_OK, unix.AT_EACCESS))
}
