package bwrap

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

// Status is what bubblewrap tells on its status descriptor at the end.
type Status struct {
	ExitCode int  // of the command; 128+n after signal n
	Exited   bool // whether an exit code was given: without one bubblewrap itself failed
}

// ReadStarted reads the record with which bubblewrap names process 1 of the
// sandbox, as the host numbers it, and leaves what follows in r.
func ReadStarted(r *bufio.Reader) (pid int, err error) {
	record, err := r.ReadString('}')
	if err != nil {
		return 0, err
	}
	pid, ok := number(record, "child-pid")
	if !ok || pid <= 0 {
		return 0, errors.New("bubblewrap named no process")
	}
	return pid, nil
}

// ReadExit reads the rest of the status records to their end. An end without
// an exit code is no error: it says that the command never ran or was killed
// with bubblewrap.
func ReadExit(r io.Reader) (Status, error) {
	rest, err := io.ReadAll(io.LimitReader(r, maxStatus))
	code, exited := number(string(rest), "exit-code")
	return Status{ExitCode: code, Exited: exited}, err
}

// maxStatus bounds what is read of the records, which have some two hundred
// bytes.
const maxStatus = 4096

// number finds "name": N. The records are flat objects of numbers, and a JSON
// decoder would cost more than all else that happens at the end of a run.
func number(record, name string) (n int, ok bool) {
	_, after, found := strings.Cut(record, `"`+name+`"`)
	if !found {
		return 0, false
	}
	after, found = strings.CutPrefix(strings.TrimSpace(after), ":")
	if !found {
		return 0, false
	}
	after = strings.TrimSpace(after)
	end := strings.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		after = after[:end]
	}
	n, err := strconv.Atoi(after)
	return n, err == nil
}
