//go:build unix

package files

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// AttachmentPolicy bounds the files that a caller hands on. The zero value
// bounds nothing.
type AttachmentPolicy struct {
	MaxCount int      // files of one call; 0 is no limit
	MaxBytes int64    // of all files of one call together; 0 is no limit
	Suffixes []string // each starts with a dot, case-insensitive; empty allows all
}

// Attachment is a file that may be handed on, read-only.
type Attachment struct {
	Path string // sandbox path, as asked
	Host string // canonical host path
	Size int64  // bytes
}

// AttachmentError reports which limit an attachment exceeds.
type AttachmentError struct {
	Path    string // the first that exceeds it, as asked
	Limit   string // "max_count", "max_bytes" or "suffixes"
	Problem string // a clause
	Allowed string
}

func (e *AttachmentError) Error() string {
	return fmt.Sprintf("Cannot attach '%s': %s (attachments.%s).\nAllowed: %s", policy.Printable(e.Path), e.Problem, e.Limit, e.Allowed)
}

// Attach returns the files at the sandbox paths, if the sandbox and its tools
// may read each and p allows all. A refusal is about all of them: there is no
// half of a call.
func (f Files) Attach(p AttachmentPolicy, paths ...string) ([]Attachment, error) {
	if p.MaxCount > 0 && len(paths) > p.MaxCount {
		return nil, &AttachmentError{paths[p.MaxCount], "max_count", fmt.Sprintf("%d files are too many", len(paths)), strconv.Itoa(p.MaxCount)}
	}
	attachments := make([]Attachment, 0, len(paths))
	total := int64(0)
	for _, asked := range paths {
		a, err := f.attach(p, asked)
		if err != nil {
			return nil, err
		}
		if total += a.Size; p.MaxBytes > 0 && total > p.MaxBytes {
			return nil, &AttachmentError{asked, "max_bytes", fmt.Sprintf("%d bytes in all are too many", total), strconv.FormatInt(p.MaxBytes, 10)}
		}
		attachments = append(attachments, a)
	}
	return attachments, nil
}

func (f Files) attach(p AttachmentPolicy, asked string) (Attachment, error) {
	file, at, st, err := f.openToRead(asked)
	if err != nil {
		return Attachment{}, err
	}
	defer file.Close()
	if err := at.checkSize(st.Size); err != nil {
		return Attachment{}, err
	}
	rule := policy.Mount{Suffixes: p.Suffixes}
	if len(p.Suffixes) > 0 && !rule.AllowsSuffix(at.host) {
		return Attachment{}, &AttachmentError{asked, "suffixes", "suffix not allowed", strings.Join(p.Suffixes, ", ")}
	}
	return Attachment{Path: asked, Host: at.host, Size: st.Size}, nil
}
