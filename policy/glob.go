package policy

import (
	"errors"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// matchGlob reports whether p matches the pattern, which has been validated.
func matchGlob(pattern, p string) bool {
	ok, err := doublestar.Match(pattern, p)
	return ok && err == nil
}

// maxGroups and maxAlternatives bound what one match may cost: a match tries
// the alternatives of all groups against each other.
const (
	maxGroups       = 4
	maxAlternatives = 64
)

// CheckPattern reports what is wrong with a glob pattern, as a clause.
func CheckPattern(p string) error {
	if !doublestar.ValidatePattern(p) {
		return errors.New("a bracket or brace is not closed; a backslash before it makes it an ordinary character")
	}
	groups, commas := 0, 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			groups++
		case ',':
			commas++
		}
	}
	if groups > maxGroups || groups > 1 && commas > maxAlternatives {
		return errors.New("too many alternatives in braces; write several patterns")
	}
	return nil
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
