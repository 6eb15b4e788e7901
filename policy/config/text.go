package config

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// maxBytes is the largest file that is read: 1 MiB.
const maxBytes = 1 << 20

// byteOrderMark is what some editors put first; YAML allows it there.
const byteOrderMark = "\ufeff"

// checkText refuses what no editor shows as it is: a reviewer must see the
// policy that is in force.
func checkText(data []byte) *fault {
	if len(data) > maxBytes {
		return newFault(Pos{1, 1}, "", "larger than 1 MiB")
	}
	at := Pos{Line: 1, Col: 1}
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		if what, fix := unseen(c, size, i); what != "" {
			return newFault(at, fix, "%s", what)
		}
		i += size
		switch {
		case c == '\n', c == '\r' && (i == len(data) || data[i] != '\n'):
			at = Pos{Line: at.Line + 1, Col: 1}
		case c != '\r' && !(c == '\ufeff' && i == size):
			at.Col++
		}
	}
	return nil
}

// unseen says what is wrong with the character c at the byte offset.
func unseen(c rune, size, offset int) (what, fix string) {
	escape := func() string { return fmt.Sprintf(`in double quotes \u%04X stands for it`, c) }
	switch {
	case c == utf8.RuneError && size == 1:
		return "not UTF-8", "save the file as UTF-8"
	case c == '\t' || c == '\n' || c == '\r':
		return "", ""
	case c < 0x20 || c >= 0x7f && c < 0xa0:
		return fmt.Sprintf("a control character (U+%04X)", c), escape()
	case c == '\ufeff' && offset > 0:
		return "a byte order mark inside the text", "remove it"
	case c == 0x2028 || c == 0x2029:
		return fmt.Sprintf("a line separator (U+%04X)", c), escape()
	case c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 || c == 0x200e || c == 0x200f || c == 0x061c:
		return fmt.Sprintf("a character that changes the direction of text (U+%04X)", c), escape()
	}
	return "", ""
}

// normalize drops the byte order mark and makes every line end in "\n", as
// YAML itself reads it.
func normalize(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	if bytes.IndexByte(data, '\r') < 0 {
		return data
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
}
