package bwrap

import (
	"encoding/json"
	"errors"
	"io"
)

// Status is what bubblewrap tells on its status descriptor.
type Status struct {
	ChildPID int  // process 1 of the sandbox, as the host numbers it
	ExitCode int  // of the command; 128+n after signal n
	Exited   bool // whether an exit code was given: without one bubblewrap itself failed
}

// ReadStatus reads status records until the end and calls started once the
// child's pid is known. The end without an exit code is no error: it says
// that the command never ran or was killed with bubblewrap.
func ReadStatus(r io.Reader, started func(pid int)) (Status, error) {
	var s Status
	dec := json.NewDecoder(r)
	for {
		var record struct {
			ChildPID *int `json:"child-pid"`
			ExitCode *int `json:"exit-code"`
		}
		err := dec.Decode(&record)
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		if record.ChildPID != nil {
			s.ChildPID = *record.ChildPID
			started(s.ChildPID)
		}
		if record.ExitCode != nil {
			s.ExitCode, s.Exited = *record.ExitCode, true
		}
	}
}
