package sbpltest

import "strings"

// text reads a string literal whose opening quote has been read. In it
//
//	\n \t \r \" \\   are what they look like,
//	\xHH             is a byte, with exactly two hexadecimal digits,
//	\o \oo \ooo      is a byte, with octal digits up to 377,
//	\ and any other  is that other byte,
//
// so "\u0041" reads as u0041 and "\b" as b: the output of a JSON encoder or of
// strconv.Quote is a different string here. All other bytes, line feeds and
// invalid UTF-8 included, stand for themselves. Source: scheme.c of simbple
// and of TinyScheme 1.42.
func (r *reader) text() (Node, error) {
	var out strings.Builder
	open := r.line
	for r.pos < len(r.src) {
		c := r.src[r.pos]
		r.pos++
		switch c {
		case '"':
			return r.finish(out.String(), false)
		case '\\':
			if r.pos == len(r.src) {
				return Node{}, &SyntaxError{Line: open, Reason: "string is not closed"}
			}
			b, err := r.escape()
			if err != nil {
				return Node{}, err
			}
			out.WriteByte(b)
		case '\n':
			r.line++
			out.WriteByte(c)
		default:
			out.WriteByte(c)
		}
	}
	return Node{}, &SyntaxError{Line: open, Reason: "string is not closed"}
}

// escape reads what follows a backslash.
func (r *reader) escape() (byte, error) {
	c := r.src[r.pos]
	switch {
	case c == 'x' || c == 'X':
		r.pos++
		return r.hexByte()
	case c >= '0' && c <= '7':
		return r.octalByte()
	}
	r.pos++
	switch c {
	case 'n':
		return '\n', nil
	case 't':
		return '\t', nil
	case 'r':
		return '\r', nil
	case '\n':
		r.line++
	}
	return c, nil
}

func (r *reader) hexByte() (byte, error) {
	if r.pos+2 > len(r.src) {
		return 0, r.fail("Error reading string: \\x without two digits")
	}
	var v byte
	for _, c := range []byte(r.src[r.pos : r.pos+2]) {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | (c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | (c | 0x20 - 'a' + 10)
		default:
			return 0, r.fail("Error reading string: %q is no hexadecimal digit", c)
		}
	}
	r.pos += 2
	return v, nil
}

func (r *reader) octalByte() (byte, error) {
	v := 0
	for i := 0; i < 3 && r.pos < len(r.src); i++ {
		c := r.src[r.pos]
		if c < '0' || c > '7' {
			break
		}
		v = v<<3 | int(c-'0')
		r.pos++
	}
	if v > 0xff {
		return 0, r.fail("Error reading string: octal byte above 377")
	}
	return byte(v), nil
}

// rawText reads the rest of #"...": it runs to the next quote and knows no
// escapes, so no raw string can hold a quote.
func (r *reader) rawText() (Node, error) {
	end := strings.IndexByte(r.src[r.pos:], '"')
	if end < 0 {
		return Node{}, r.fail("raw string is not closed")
	}
	body := r.src[r.pos : r.pos+end]
	r.pos += end + 1
	n, err := r.finish(body, true)
	r.line += strings.Count(body, "\n")
	return n, err
}

func (r *reader) finish(s string, raw bool) (Node, error) {
	if len(s) > MaxLiteral {
		return Node{}, r.fail("Error reading string: %d bytes, at most %d", len(s), MaxLiteral)
	}
	return Node{Kind: Text, Atom: s, Raw: raw}, nil
}
