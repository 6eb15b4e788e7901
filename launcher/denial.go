package launcher

import "github.com/sbx-run/sbx/seatbelt"

// Denial is one kind of access that the kernel refused while a command ran,
// where it logs that: on macOS alone, and with gaps.
type Denial struct {
	Operation string // in the words of the backend: file-read-data
	Object    string // path, address or service; may be empty
	Process   string // name of the program
	Count     int
}

// denialsOf drops what only the log's reader needs.
func denialsOf(refusals []seatbelt.Refusal) []Denial {
	denials := make([]Denial, len(refusals))
	for i, r := range refusals {
		denials[i] = Denial{Operation: r.Operation, Object: r.Object, Process: r.Process, Count: r.Count}
	}
	return denials
}
