package config

import (
	"math"
	"strings"
	"time"

	"github.com/sbx-run/sbx/policy"
)

// limitSpec is one limit: the same name and spelling in a file and after
// --limit.
type limitSpec struct {
	name string
	want string
	bare bool // a number without a unit
	set  func(l *policy.Limits, s string) *mismatch
}

// The most that the kernel can count: processes by pid_max (proc(5), 2^22),
// descriptors by nr_open (2^30 at most).
const (
	mostProcesses = 1 << 22
	mostOpenFiles = 1 << 30
)

// limitSpecs are all limits with a value.
func limitSpecs() []limitSpec {
	return []limitSpec{
		{"timeout", "a duration such as 30s", false, func(l *policy.Limits, s string) *mismatch { return duration(&l.Timeout, s, 1) }},
		{"cpu", "a duration such as 30s", false, func(l *policy.Limits, s string) *mismatch { return duration(&l.CPU, s, time.Second) }},
		{"memory", "a size such as 1GiB", false, func(l *policy.Limits, s string) *mismatch { return bytesOf(&l.Memory, s) }},
		{"processes", "a number", true, func(l *policy.Limits, s string) *mismatch { return countOf(&l.Processes, s, mostProcesses) }},
		{"open_files", "a number", true, func(l *policy.Limits, s string) *mismatch { return countOf(&l.OpenFiles, s, mostOpenFiles) }},
		{"file_size", "a size such as 1GiB", false, func(l *policy.Limits, s string) *mismatch { return bytesOf(&l.FileSize, s) }},
		{"output", "a number of characters", true, func(l *policy.Limits, s string) *mismatch { return countOf(&l.Output, s, math.MaxInt64) }},
		{"tmp", "a size such as 256MiB", false, func(l *policy.Limits, s string) *mismatch { return bytesOf(&l.Tmp, s) }},
	}
}

// duration sets a limit that the kernel counts in steps of unit.
func duration(to *time.Duration, s string, unit time.Duration) *mismatch {
	v, m := parseDuration(s)
	if m != nil {
		return m
	}
	if v%unit != 0 {
		return &mismatch{"want whole seconds, got " + s, ""}
	}
	*to = v
	return nil
}

// bytesOf sets a limit in bytes.
func bytesOf(to *int64, s string) *mismatch {
	v, m := parseSize(s)
	if m == nil {
		*to = v
	}
	return m
}

// countOf sets a limit that is a number from 1 to most.
func countOf(to *int64, s string, most int64) *mismatch {
	v, m := parseCount(s, most)
	if m == nil {
		*to = v
	}
	return m
}

// SetLimit returns l with one limit replaced, given as NAME=VALUE, the form
// of --limit.
func SetLimit(l policy.Limits, assignment string) (policy.Limits, *policy.ConfigError) {
	name, value, ok := strings.Cut(assignment, "=")
	if !ok {
		return l, &policy.ConfigError{Message: flagText("--limit", assignment) + ": want NAME=VALUE", Fix: "for example --limit memory=1GiB"}
	}
	names := []string{}
	for _, spec := range limitSpecs() {
		names = append(names, spec.name)
		if spec.name != name {
			continue
		}
		if m := spec.set(&l, value); m != nil {
			return l, &policy.ConfigError{Message: flagText("--limit", assignment) + ": " + m.what, Fix: m.fix}
		}
		return l, nil
	}
	fix := didYouMean(name, names)
	if fix == "" {
		fix = "limits are " + strings.Join(sorted(names), ", ")
	}
	return l, &policy.ConfigError{Message: flagText("--limit", assignment) + ": unknown limit " + quote(name), Fix: fix}
}
