package sbpltest

import (
	"fmt"
	"regexp"
	"strings"
)

// pattern is a translated AppleMatch expression.
type pattern struct {
	re    *regexp.Regexp
	reCI  *regexp.Regexp
	never bool
}

// compileRegex checks an expression against the dialect that published
// profiles use, ^ $ . [] [^] * + ? ( | ) and an escaped punctuation mark, and
// translates it. The search is not anchored. Two measured oddities are kept:
// an inline flag group such as (?i) refuses the profile, and (?:...) is
// accepted and then never matches. Anything else unknown is an error.
func compileRegex(src string) (pattern, error) {
	t := translator{src: src}
	if err := t.alternatives(0); err != nil {
		return pattern{}, err
	}
	if t.pos < len(src) {
		return pattern{}, fmt.Errorf("regex %q: unexpected )", src)
	}
	if t.never {
		return pattern{never: true}, nil
	}
	re, err := regexp.Compile("(?s:" + t.out.String() + ")")
	if err != nil {
		return pattern{}, fmt.Errorf("regex %q: %w", src, err)
	}
	return pattern{re: re, reCI: regexp.MustCompile("(?si:" + t.out.String() + ")")}, nil
}

type translator struct {
	src   string
	pos   int
	out   strings.Builder
	never bool
}

func (t *translator) alternatives(depth int) error {
	if depth > 16 {
		return fmt.Errorf("regex %q: groups nested too deep", t.src)
	}
	for {
		if err := t.branch(depth); err != nil {
			return err
		}
		if t.pos == len(t.src) || t.src[t.pos] != '|' {
			return nil
		}
		t.out.WriteByte('|')
		t.pos++
	}
}

// branch translates up to the next "|" or ")". Only the first branch of the
// whole expression may start with "^": elsewhere it was refused (orbit#495).
func (t *translator) branch(depth int) error {
	start := t.pos
	for t.pos < len(t.src) && t.src[t.pos] != '|' && t.src[t.pos] != ')' {
		c := t.src[t.pos]
		switch {
		case c == '^':
			if t.pos != start || depth > 0 {
				return fmt.Errorf("regex %q: unexpected ^ operator in middle of expression", t.src)
			}
			t.pos++
			t.out.WriteByte(c)
			continue
		case c == '$':
			t.pos++
			t.out.WriteByte(c)
			continue
		case strings.IndexByte("*+?", c) >= 0:
			return fmt.Errorf("regex %q: nothing to repeat", t.src)
		}
		if err := t.item(depth); err != nil {
			return err
		}
		t.repeat()
	}
	return nil
}

// item translates what a repetition applies to.
func (t *translator) item(depth int) error {
	switch c := t.src[t.pos]; c {
	case '(':
		return t.group(depth)
	case '[':
		return t.brackets()
	case '\\':
		return t.escaped()
	case '{', '}':
		return fmt.Errorf("regex %q: %c is outside the known dialect", t.src, c)
	case '.':
		t.pos++
		t.out.WriteByte('.')
	default:
		// Byte by byte, so that a repetition would bind to one byte of a
		// multi-byte rune; sbx never repeats one.
		end := t.pos + 1
		for end < len(t.src) && t.src[end]&0xc0 == 0x80 {
			end++
		}
		t.out.WriteString(regexp.QuoteMeta(t.src[t.pos:end]))
		t.pos = end
	}
	return nil
}

// repeat translates one repetition sign; counts in braces are unknown.
func (t *translator) repeat() {
	if t.pos < len(t.src) && strings.IndexByte("*+?", t.src[t.pos]) >= 0 {
		t.out.WriteByte(t.src[t.pos])
		t.pos++
	}
}

// group translates (...). What starts with "?" is one of the two oddities.
func (t *translator) group(depth int) error {
	rest := t.src[t.pos+1:]
	switch {
	case strings.HasPrefix(rest, "?:"):
		t.never = true
		t.pos += 2
	case strings.HasPrefix(rest, "?"):
		return fmt.Errorf("regex %q: unexpected ^ operator in middle of expression", t.src)
	}
	t.pos++
	t.out.WriteByte('(')
	if err := t.alternatives(depth + 1); err != nil {
		return err
	}
	if t.pos == len(t.src) {
		return fmt.Errorf("regex %q: ( is not closed", t.src)
	}
	t.pos++
	t.out.WriteByte(')')
	return nil
}

// brackets translates [...]: members stand for themselves and ranges, no
// classes, no escapes.
func (t *translator) brackets() error {
	end := strings.IndexByte(t.src[t.pos+1:], ']')
	if end <= 0 {
		return fmt.Errorf("regex %q: bad bracket expression", t.src)
	}
	body := t.src[t.pos+1 : t.pos+1+end]
	not, members := "", body
	if body[0] == '^' {
		not, members = "^", body[1:]
	}
	if members == "" || strings.ContainsAny(members, `\[`) {
		return fmt.Errorf("regex %q: [%s] is outside the known dialect", t.src, body)
	}
	t.out.WriteString("[" + not + members + "]")
	t.pos += end + 2
	return nil
}

// escaped translates a backslash before punctuation. Before a letter or digit
// it would be a class or a reference, if the dialect had them.
func (t *translator) escaped() error {
	if t.pos+1 == len(t.src) {
		return fmt.Errorf("regex %q: \\ at the end", t.src)
	}
	c := t.src[t.pos+1]
	if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 {
		return fmt.Errorf("regex %q: \\%c is outside the known dialect", t.src, c)
	}
	t.out.WriteString(regexp.QuoteMeta(string(c)))
	t.pos += 2
	return nil
}
