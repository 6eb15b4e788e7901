package policy

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Request is what a child sandbox asks of its parent. Everything in it
// narrows; the zero value asks for nothing and gets nothing but the system
// base.
//
// Entries of lists are sandbox paths of the parent: "/src" in the root form,
// "output", "output/reports" or "output:reports" in the path form, never with
// "..". One that is a file stands for its directory, clipped to the mount. One
// that does not exist yet is fine.
type Request struct {
	// Restrict keeps everything of the parent at and below one entry. It is a
	// derivation of its own, applied first; the lists apply to its result, and
	// where there are none all of it stays.
	Restrict string

	// AllowRead and AllowWrite bound the parent's access. nil is no list, an
	// empty list is no access. A write list alone is the read list too; a read
	// list alone allows no writes.
	AllowRead, AllowWrite []string

	// Inherit keeps all of the parent's access where there is no list.
	Inherit bool

	// Readonly true drops all writes, whatever the lists say; false asks for
	// writes, which a parent without any refuses; nil asks for neither.
	Readonly *bool

	Deny         []Deny
	Network      *Network // nil keeps the parent's
	Limits       Limits   // zero fields keep the parent's
	Suffixes     []string // nil keeps the mounts' own
	MaxFileBytes int64    // bytes; 0 keeps the mounts' own

	Rule Rule // where the request comes from, for explanations
}

// RequestError reports an argument that means nothing, before any question of
// permission: of a Request, or of a built-in tool.
type RequestError struct {
	Argument string // "allow_read", "suffixes", "pattern"
	Value    string
	Problem  string // a clause
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("%s: '%s': %s", e.Argument, Printable(e.Value), e.Problem)
}

// lists returns the effective read and write lists after the defaults; all
// is true where there are none and the parent's access stays.
func (r Request) lists() (read, write []string, all bool) {
	switch {
	case r.AllowRead == nil && r.AllowWrite == nil:
		return nil, nil, r.Inherit || r.Restrict != ""
	case r.AllowRead == nil:
		return r.AllowWrite, r.AllowWrite, false
	}
	return r.AllowRead, r.AllowWrite, false
}

func (r Request) readonly() bool { return r.Readonly != nil && *r.Readonly }

// check refuses malformed values.
func (r Request) check() error {
	for _, s := range r.Suffixes {
		if len(s) < 2 || s[0] != '.' || strings.ContainsAny(s, "/\x00") {
			return &RequestError{"suffixes", s, "a suffix is a dot and at least one character"}
		}
	}
	if r.MaxFileBytes < 0 {
		return &RequestError{"max_file_bytes", strconv.FormatInt(r.MaxFileBytes, 10), "a size is not negative"}
	}
	for _, f := range limitFields(r.Limits) {
		if f.value < 0 {
			return &RequestError{"limits." + f.name, f.text(f.value), "a limit is not negative"}
		}
	}
	return nil
}

// limitField is one number of Limits.
type limitField struct {
	name  string
	value int64
	text  func(int64) string
}

func limitFields(l Limits) []limitField {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	duration := func(n int64) string { return time.Duration(n).String() }
	return []limitField{
		{"timeout", int64(l.Timeout), duration},
		{"cpu", int64(l.CPU), duration},
		{"memory", l.Memory, number},
		{"processes", l.Processes, number},
		{"open_files", l.OpenFiles, number},
		{"file_size", l.FileSize, number},
		{"output", l.Output, number},
		{"tmp", l.Tmp, number},
	}
}
