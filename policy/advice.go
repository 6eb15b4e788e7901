package policy

import "strings"

// AllowWith returns the smallest flag that would turn a refusal of op at the
// resolved path r into a permission, or "" where no flag can, or where only a
// grant of the home or of more would. d is the decision that refused.
func (e Effective) AllowWith(op Access, r Resolution, d Decision) string {
	if d.Allowed || d.refusal != byAbsence || r.Type == TypeUnknown {
		return ""
	}
	target := r.Path
	if r.Type == TypeMissing {
		if d.Entry.Kind == Private {
			return ""
		}
		target = nearestDir(r.Path)
		if target == "" || Contains(target, e.Places.Home) {
			return ""
		}
	}
	if target == "/" {
		return ""
	}
	flag := "--ro "
	if op.Has(Write) {
		flag = "--rw "
	}
	return flag + ShellQuote(e.relative(target))
}

// nearestDir returns the closest directory above p that exists, or "".
func nearestDir(p string) string {
	for dir := parent(p); dir != "/"; dir = parent(dir) {
		if r, err := Resolve(dir); err == nil && r.Type != TypeMissing {
			if r.Type != TypeDir {
				return ""
			}
			return dir
		}
	}
	return ""
}

// relative spells p the short way where it lies below the working directory.
func (e Effective) relative(p string) string {
	cwd := e.Places.Cwd
	if cwd == "" || cwd == "/" || !Contains(cwd, p) {
		return p
	}
	if p == cwd {
		return "."
	}
	return "./" + p[len(cwd)+1:]
}

// ShellQuote quotes s as one word for a POSIX shell, if it needs quoting.
func ShellQuote(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("@%+=:,./-_", r))
	}) < 0
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
