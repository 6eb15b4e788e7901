package seatbelt

import (
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sbx-run/sbx/policy"
)

// quote writes s as a string literal. The reader of sandbox-exec gives a
// meaning to \n, \t, \r, \", \\, \xHH and octal digits, and drops the
// backslash before anything else, so strconv.Quote and JSON would write
// another string. Escaping the backslash and the quote alone is right for
// every string without control characters, which checkText keeps out.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('"')
	return b.String()
}

// checkText says why s must not stand in a profile, or "".
func checkText(s string) string {
	if !utf8.ValidString(s) {
		return "it is not valid UTF-8"
	}
	for _, r := range s {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return "it holds the control character " + strconv.QuoteRuneToASCII(r)
		}
	}
	return ""
}

// checkPath returns a *PathError unless p is an absolute clean path that can
// be quoted.
func checkPath(p string, rule policy.Rule) error {
	reason := checkText(p)
	if reason == "" && (!strings.HasPrefix(p, "/") || path.Clean(p) != p) {
		reason = "it is not absolute and clean"
	}
	if reason == "" && len(p) > maxPattern {
		return &TooLargeError{What: "one path", Bytes: len(p), Limit: maxPattern}
	}
	if reason != "" {
		return &PathError{Path: p, Rule: rule, Reason: reason}
	}
	return nil
}

// Filters of single paths. subpath covers the path itself, existing or not,
// and everything below it.

func literal(p string) string { return "(literal " + quote(p) + ")" }

func subpath(p string) string { return "(subpath " + quote(p) + ")" }

func regex(expression string) string { return "(regex " + quote(expression) + ")" }

func param(name string) string { return "(param " + quote(name) + ")" }
