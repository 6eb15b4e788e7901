package seatbelt

import (
	"strings"
	"unicode/utf8"
)

// Expressions use what is known to work in the system's matcher: anchors,
// brackets, groups with alternatives, "*" and "?", and a backslash before
// punctuation. No inline flags: (?i) refuses the profile and (?:...) silently
// never matches.

// anyCase matches the path dir + rest, and with below everything under it,
// whatever the case of the ASCII letters in rest. dir is taken as it is.
func anyCase(dir, rest string, below bool) string {
	var b strings.Builder
	b.WriteByte('^')
	b.WriteString(escape(dir))
	for _, r := range rest {
		if lower := r | 0x20; lower >= 'a' && lower <= 'z' {
			b.WriteByte('[')
			b.WriteRune(lower)
			b.WriteRune(lower &^ 0x20)
			b.WriteByte(']')
			continue
		}
		b.WriteString(escape(string(r)))
	}
	if below {
		b.WriteString("(/.*)?")
	}
	b.WriteByte('$')
	return b.String()
}

// escape writes s so that an expression matches it literally.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`^$.[]*+?(|)\{}`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// glob translates a doublestar pattern to an expression without anchors. ok
// is false for what has no exact counterpart: brackets with escapes, negated
// or non-ASCII brackets and a backslash before a letter.
func glob(pattern string) (expression string, ok bool) {
	g := globber{src: pattern}
	ok = g.sequence(false)
	return g.out.String(), ok && g.pos == len(pattern)
}

// globber walks one pattern.
type globber struct {
	src string
	pos int
	out strings.Builder
}

// sequence translates up to the end, or inside braces up to "," or "}".
func (g *globber) sequence(inBraces bool) bool {
	for g.pos < len(g.src) {
		rest := g.src[g.pos:]
		switch c := rest[0]; {
		case inBraces && (c == ',' || c == '}'):
			return true
		case c == '*':
			if !g.star(inBraces) {
				return false
			}
		case c == '?':
			g.emit("[^/]", 1)
		case c == '[':
			if !g.bracket() {
				return false
			}
		case c == '{':
			if !g.braces() {
				return false
			}
		case c == '\\':
			if len(rest) < 2 {
				return false
			}
			_, n := utf8.DecodeRuneInString(rest[1:])
			g.emit(escape(rest[1:1+n]), 1+n)
		default:
			g.emit(escape(rest[:1]), 1)
		}
	}
	return !inBraces
}

func (g *globber) emit(expression string, consumed int) {
	g.out.WriteString(expression)
	g.pos += consumed
}

// star translates "*" within one component, and "**" as a whole component for
// any number of them, none included.
func (g *globber) star(inBraces bool) bool {
	rest := g.src[g.pos:]
	stars := len(rest) - len(strings.TrimLeft(rest, "*"))
	if stars == 1 {
		g.emit("[^/]*", 1)
		return true
	}
	// "**" next to other characters or inside braces has readings of its own.
	atStart := g.pos == 0 || g.src[g.pos-1] == '/'
	if inBraces || stars != 2 || !atStart {
		return false
	}
	switch {
	case len(rest) == 2: // .../** matches the directory itself too
		before, ok := strings.CutSuffix(g.out.String(), "/")
		if !ok || before == "" { // "/**", or another "**" before it
			return false
		}
		g.out.Reset()
		g.out.WriteString(before)
		g.emit("(/.*)?", 2)
		return true
	case rest[2] == '/':
		g.emit("(.*/)?", 3)
		return true
	}
	return false
}

// bracket translates a class of plain ASCII members and ranges.
func (g *globber) bracket() bool {
	body, _, closed := strings.Cut(g.src[g.pos+1:], "]")
	if !closed || body == "" || strings.ContainsAny(body, `^!\[/-`) && !plainRanges(body) || !isASCII(body) {
		return false
	}
	g.emit("["+body+"]", len(body)+2)
	return true
}

// plainRanges accepts letters and digits with ranges between two of them.
func plainRanges(body string) bool {
	for i := range len(body) {
		c := body[i]
		switch {
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z':
		case c == '-' && i > 0 && i+1 < len(body) && body[i-1] < body[i+1] && body[i+1] != '-':
		default:
			return false
		}
	}
	return true
}

// braces translates {a,b}. An empty alternative has no known counterpart.
func (g *globber) braces() bool {
	g.emit("(", 1)
	for {
		start := g.pos
		if !g.sequence(true) || g.pos == start {
			return false
		}
		if g.src[g.pos] == '}' {
			g.emit(")", 1)
			return true
		}
		g.emit("|", 1)
	}
}
