package seatbelt

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The kernel logs what it refuses. The log is asynchronous, drops entries and
// merges repeated ones, so it serves to explain; nothing is decided by it.

// LogExecutable is the program that reads the log. It refuses to work inside a
// sandbox.
const LogExecutable = "/usr/bin/log"

// LogArgv returns the command line that follows the refusals of a run with
// this tag, one JSON object a line after a line that says it has begun. The tag
// must be one that Render took.
func LogArgv(tag string) []string {
	return []string{LogExecutable, "stream", "--style", "ndjson", "--predicate", `eventMessage ENDSWITH "` + tag + `"`}
}

// LogBegun reports whether a line of the log's reader says that what happens
// from now on will be seen.
func LogBegun(line string) bool { return strings.HasPrefix(line, "Filtering the log data") }

// Refusal is what the kernel logged about one kind of refused access.
type Refusal struct {
	Operation string // of SBPL: file-read-data
	Object    string // path, service, address; may be empty
	Process   string // name of the program
	PID       int
	Count     int
}

// refusalLine is a message of the kernel: "Sandbox: cat(812) deny(1)
// file-read-data /private/etc/hosts". A name may hold spaces and parentheses.
// It is compiled at the first one: most programs never read the log.
var refusalLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(\d+) duplicate reports? for )?Sandbox: (.+)\((\d+)\) deny\(\d+\) ([a-z][a-z0-9*-]*)(?: (.*))?$`)
})

// ParseRefusal reads one line of the log. ok is false for what is not a refusal
// of the run with this tag.
func ParseRefusal(line, tag string) (r Refusal, ok bool) {
	var record struct {
		EventMessage string `json:"eventMessage"`
	}
	if json.Unmarshal([]byte(line), &record) != nil {
		return Refusal{}, false
	}
	message := strings.TrimSpace(record.EventMessage)
	if tag != "" {
		if message, ok = strings.CutSuffix(message, tag); !ok {
			return Refusal{}, false
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	m := refusalLine().FindStringSubmatch(strings.TrimSpace(first))
	if m == nil || isNoise(m[4], m[5]) {
		return Refusal{}, false
	}
	r = Refusal{Operation: m[4], Object: m[5], Process: m[2], Count: 1}
	r.PID, _ = strconv.Atoi(m[3]) // digits; one too large for a pid stays 0
	if n, err := strconv.Atoi(m[1]); err == nil {
		r.Count = n
	}
	return r, true
}

// isNoise tells what every program asks for and none misses.
func isNoise(operation, object string) bool {
	switch operation {
	case "mach-lookup":
		return object == "com.apple.diagnosticd" || object == "com.apple.analyticsd"
	}
	return object == "/dev/dtracehelper"
}

// MostRefusals bounds what is kept of one run.
const MostRefusals = 200

// AddRefusal counts r into list, which holds each kind once. Beyond
// MostRefusals new kinds are dropped.
func AddRefusal(list []Refusal, r Refusal) []Refusal {
	i := slices.IndexFunc(list, func(o Refusal) bool {
		return o.Operation == r.Operation && o.Object == r.Object && o.Process == r.Process
	})
	switch {
	case i >= 0:
		list = slices.Clone(list)
		list[i].Count += r.Count
	case len(list) < MostRefusals:
		list = append(list, r)
	}
	return list
}
