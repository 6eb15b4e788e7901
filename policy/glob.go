package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// matchGlob reports whether p matches the pattern, which has been validated.
func matchGlob(pattern, p string) bool {
	ok, err := doublestar.Match(pattern, p)
	return ok && err == nil
}

const globMeta = `*?[]{}\`

// escapeGlob returns the pattern that matches the path p and nothing else.
func escapeGlob(p string) string {
	if !strings.ContainsAny(p, globMeta) {
		return p
	}
	var b strings.Builder
	for _, c := range []byte(p) {
		if strings.IndexByte(globMeta, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// unescapeGlob returns the path that a pattern without wildcards names.
func unescapeGlob(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] == '\\' && i+1 < len(p) {
			i++
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// hasMeta reports whether a special character stands without a backslash.
func hasMeta(p string) bool {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}
