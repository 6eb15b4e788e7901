package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// Rules for what sbx says:
//
//   - In "run", stdout belongs to the command. Everything else goes to stderr.
//   - Each line starts with "sbx: ", in lower case, without a final period.
//     Texts of decisions, which language models read too, are sentences.
//   - A hint follows the message that it helps with: what to do, as a command
//     or flag where possible.
//   - Colour only on a terminal, never with NO_COLOR or TERM=dumb.
//   - Names of files and hosts are shown with control characters escaped: they
//     may come from the command, and a terminal would obey them.

// ui writes to the two streams of a user.
type ui struct {
	out, err io.Writer
	outColor bool
	quiet    bool
}

func newUI(out, err *os.File) ui {
	return ui{out: out, err: err, outColor: wantsColor(out)}
}

func wantsColor(f *os.File) bool {
	return isTerminal(f) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// note says something the user should know but need not act on.
func (u ui) note(format string, args ...any) {
	if !u.quiet {
		u.line(fmt.Sprintf(format, args...))
	}
}

// warn says something that --quiet does not silence.
func (u ui) warn(format string, args ...any) {
	u.line("warning: " + fmt.Sprintf(format, args...))
}

func (u ui) hint(text string) {
	if text != "" {
		u.line("hint: " + text)
	}
}

func (u ui) line(text string) {
	for part := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(u.err, "sbx: %s\n", printable(part))
	}
}

// hinter is an error that knows what to do about it.
type hinter interface{ Hint() string }

// failure reports the error that ends sbx: as text on stderr, or as the one
// JSON object on stdout.
func (u ui) failure(err error, asJSON bool) {
	var h hinter
	hint := ""
	if errors.As(err, &h) {
		hint = h.Hint()
	}
	if asJSON {
		u.object(map[string]any{"error": failureBody{Kind: errorKind(err), Message: err.Error(), Hint: hint}})
		return
	}
	u.line(err.Error())
	u.hint(hint)
}

type failureBody struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// object prints one JSON value on stdout.
func (u ui) object(v any) {
	enc := json.NewEncoder(u.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		u.warn("cannot write the result: %v", err)
	}
}

// paint wraps text in an SGR colour on a colour terminal.
func (u ui) paint(code int, text string) string {
	if !u.outColor || text == "" {
		return text
	}
	return "\x1b[" + strconv.Itoa(code) + "m" + text + "\x1b[0m"
}

// SGR colours.
const (
	dim    = 2
	red    = 31
	green  = 32
	yellow = 33
	cyan   = 36
)

// printable escapes what a terminal would act on.
func printable(s string) string { return policy.Printable(s) }
