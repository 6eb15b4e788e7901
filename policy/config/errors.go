package config

import (
	"fmt"
	"strings"
)

// NotAvailableError reports something that the grammar knows and that this
// build does not enforce. It is refused rather than ignored.
type NotAvailableError struct {
	File string
	Pos
	Key string // the key or flag, as written
	Fix string
}

// Error names the place and the key.
func (e *NotAvailableError) Error() string {
	if e.File == "" {
		return e.Key + " is not available yet"
	}
	return fmt.Sprintf("%s:%d:%d: %s is not available yet", e.File, e.Line, e.Col, e.Key)
}

// Hint says what can be used instead.
func (e *NotAvailableError) Hint() string { return e.Fix }

// Need is one thing that a discovered file asks for beyond its own directory.
type Need struct {
	Pos
	What string // as the file has it: "network: true", "path logs: /var/log"
}

// TrustError reports a file that was found, not named, and that asks for more
// than such a file may grant. Nothing of it has been used.
type TrustError struct {
	File   string // as messages name it
	Path   string // canonical
	SHA256 string // of the content, in hexadecimal
	Needs  []Need

	Changed bool     // the user has trusted another content of it
	New     []string // what this content grants and that one did not
}

// Error lists everything that needs approval, on one line.
func (e *TrustError) Error() string {
	if e.Changed {
		added := "it grants nothing new, but its content counts as a whole"
		if len(e.New) > 0 {
			added = "it newly grants: " + strings.Join(e.New, "; ")
		}
		return show(e.File) + " has changed since it was trusted; " + added
	}
	what := make([]string, len(e.Needs))
	for i, n := range e.Needs {
		what[i] = n.What
		if n.Given() {
			what[i] += fmt.Sprintf(" (line %d)", n.Line)
		}
	}
	return fmt.Sprintf("%s asks for more than a file may grant that nobody named or trusted: %s", show(e.File), strings.Join(what, "; "))
}

// Hint says how to trust the file.
func (e *TrustError) Hint() string {
	return "read the file; if you agree with it: sbx trust " + show(e.File)
}

// Warning is something that the user should know and that changes nothing.
type Warning struct{ Message, Fix string }
