package config

import (
	"bytes"
	"io"
	"os"
)

// secretWords mark a line of a tool's configuration that may carry a
// credential. "helper" only names a program, so it is not among them.
var secretWords = [...]string{"apikey", "bearer", "extraheader", "oauth", "passw", "secret", "smtppass", "token"}

// holdsSecret reports whether the file looks as if it held a credential. A
// file that cannot be judged counts as one that does.
func holdsSecret(file string) bool {
	if !isRegular(file) {
		return true
	}
	f, err := os.Open(file)
	if err != nil {
		return true
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil || len(data) > maxBytes {
		return true
	}
	for line := range bytes.Lines(bytes.ToLower(data)) {
		if lineHoldsSecret(line) {
			return true
		}
	}
	return false
}

// lineHoldsSecret finds the words, and addresses with a user in them:
// https://user:token@host.
func lineHoldsSecret(line []byte) bool {
	for _, w := range secretWords {
		if bytes.Contains(line, []byte(w)) {
			return true
		}
	}
	for rest := line; ; {
		_, after, ok := bytes.Cut(rest, []byte("://"))
		if !ok {
			return false
		}
		authority := after
		if i := bytes.IndexAny(after, "/ \t\"'#\r\n"); i >= 0 {
			authority = after[:i]
		}
		if user, _, ok := bytes.Cut(authority, []byte("@")); ok && string(user) != "git" {
			return true
		}
		rest = after
	}
}
