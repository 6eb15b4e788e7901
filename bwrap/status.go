package bwrap

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

// Status is what bubblewrap tells on its status descriptor at the end.
type Status struct {
	ExitCode int  // of the command; 128+n after signal n
	Exited   bool // whether an exit code was given: without one bubblewrap itself failed
}

// ReadStarted reads the record with which bubblewrap names process 1 of the
// sandbox, as the host numbers it, and leaves what follows in r.
func ReadStarted(r *bufio.Reader) (pid int, err error) {
	record, err := r.ReadBytes('}')
	if err != nil {
		return 0, err
	}
	var started struct {
		ChildPID int `json:"child-pid"`
	}
	err = json.Unmarshal(record, &started)
	if err == nil && started.ChildPID <= 0 {
		err = errors.New("bubblewrap named no process")
	}
	return started.ChildPID, err
}

// ReadExit reads the rest of the status records to their end. An end without
// an exit code is no error: it says that the command never ran or was killed
// with bubblewrap.
func ReadExit(r io.Reader) (Status, error) {
	var s Status
	dec := json.NewDecoder(r)
	for {
		var record struct {
			ExitCode *int `json:"exit-code"`
		}
		err := dec.Decode(&record)
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		if record.ExitCode != nil {
			s.ExitCode, s.Exited = *record.ExitCode, true
		}
	}
}
