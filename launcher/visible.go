package launcher

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// findVisible looks a command up as the backend will, among what shows says is
// readable and executable: where no stub inside reports why a command did not
// start, this tells "not found" from "not executable" beforehand. The kernel
// still decides. dirs is PATH. The error is a *CommandError.
func findVisible(name, dir string, dirs []string, shows func(p string) bool) (string, error) {
	if strings.Contains(name, "/") {
		p := name
		if !strings.HasPrefix(p, "/") {
			p = dir + "/" + p
		}
		return name, tryVisible(name, p, shows)
	}
	var refused error
	for _, d := range dirs {
		p := path.Join(d, name)
		err := tryVisible(name, p, shows)
		if err == nil {
			return p, nil
		}
		if ce := err.(*CommandError); refused == nil && !ce.NotFound {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", &CommandError{Name: name, NotFound: true}
}

// tryVisible returns nil or a *CommandError.
func tryVisible(name, p string, shows func(p string) bool) error {
	r, err := policy.Resolve(p)
	if err != nil || r.Type == policy.TypeMissing || r.Type == policy.TypeUnknown || !shows(r.Path) {
		return &CommandError{Name: name, NotFound: true}
	}
	info, err := os.Stat(r.Path)
	switch {
	case err != nil:
		return &CommandError{Name: name, NotFound: true}
	case info.IsDir():
		return &CommandError{Name: name, Reason: "is a directory"}
	case info.Mode()&0o111 == 0:
		return &CommandError{Name: name, Reason: "permission denied"}
	case info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return &CommandError{Name: name, Reason: "it runs as another user (setuid), which no sandbox of macOS starts"}
	}
	return interpreterVisible(name, r.Path, shows)
}

// interpreterVisible looks at the interpreter of a script.
func interpreterVisible(name, program string, shows func(p string) bool) error {
	interpreter := interpreterOf(program)
	if interpreter == "" {
		return nil
	}
	r, err := policy.Resolve(path.Clean(interpreter))
	if err != nil || r.Type != policy.TypeFile || !shows(r.Path) {
		return &CommandError{Name: name, Reason: fmt.Sprintf("its interpreter %s is not in the sandbox", interpreter)}
	}
	return nil
}

// interpreterOf returns the absolute path after "#!", or "".
func interpreterOf(program string) string {
	f, err := os.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head)
	line, isScript := strings.CutPrefix(string(head[:n]), "#!")
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if !isScript || len(words) == 0 || !strings.HasPrefix(words[0], "/") {
		return ""
	}
	return words[0]
}
