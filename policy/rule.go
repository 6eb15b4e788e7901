package policy

import "strconv"

// Rule says where a decision comes from, so that every refusal can name the
// line or flag to change. It carries no meaning of its own: two areas that
// differ in rules alone allow the same.
type Rule struct {
	File string // file as the user named it; empty for flags and built-in rules
	Line int    // 1-based line in File
	Text string // the rule as written: "--rw ./src", "system: minimal", "preset go"
}

// String gives file:line, or the text of a rule that no file holds.
func (r Rule) String() string {
	if r.File == "" {
		return r.Text
	}
	return r.File + ":" + strconv.Itoa(r.Line)
}
