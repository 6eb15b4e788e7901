package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Approvals are the user's decisions about discovered files: one record for
// each file, in a directory of their own that no sandbox shows. Records are
// replaced as a whole, so a crash leaves the old decision.
type Approvals struct {
	Dir string // absolute; created with the first approval
}

// Approval says that the user has read this content and agrees with it.
type Approval struct {
	Path    string `json:"path"`   // canonical
	SHA256  string `json:"sha256"` // of Content, in hexadecimal
	Content []byte `json:"content"`
}

// approvalMode keeps records from other users: what somebody trusts tells
// what to attack.
const approvalMode = 0o600

// recordName names the record of the file at the canonical path.
func recordName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:]) + ".json"
}

// Trusted reports whether exactly this content of the file was approved.
func (a Approvals) Trusted(path, sha256 string) bool {
	record, ok, err := a.Get(path)
	return err == nil && ok && record.SHA256 == sha256
}

// Get returns the approval of the file at the canonical path, of whatever
// content. A record that anybody else could have written is an error.
func (a Approvals) Get(path string) (Approval, bool, error) {
	if a.Dir == "" {
		return Approval{}, false, nil
	}
	record, err := readApproval(filepath.Join(a.Dir, recordName(path)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Approval{}, false, nil
	case err != nil:
		return Approval{}, false, err
	case record.Path != path:
		return Approval{}, false, fmt.Errorf("the record of %s names another file", show(path))
	}
	return record, true, nil
}

// List returns all approvals, sorted by path.
func (a Approvals) List() ([]Approval, error) {
	entries, err := os.ReadDir(a.Dir)
	if errors.Is(err, fs.ErrNotExist) || a.Dir == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Approval
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue // a record that was being written when its writer was killed
		}
		record, err := readApproval(filepath.Join(a.Dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, record)
	}
	slices.SortFunc(all, func(x, y Approval) int { return strings.Compare(x.Path, y.Path) })
	return all, nil
}

// Add records the approval of a file as it was read.
func (a Approvals) Add(s Source) error {
	if a.Dir == "" {
		return errors.New("there is no state directory: set HOME or XDG_STATE_HOME")
	}
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(Approval{Path: s.Path, SHA256: s.SHA256, Content: s.data})
	if err != nil {
		return err
	}
	return ReplaceFile(filepath.Join(a.Dir, recordName(s.Path)), data)
}

// Revoke removes the approval and reports whether there was one.
func (a Approvals) Revoke(path string) (bool, error) {
	if a.Dir == "" {
		return false, nil
	}
	err := os.Remove(filepath.Join(a.Dir, recordName(path)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func readApproval(file string) (Approval, error) {
	data, err := ReadOwn(file)
	if err != nil {
		return Approval{}, err
	}
	var record Approval
	if err := json.Unmarshal(data, &record); err != nil {
		return Approval{}, fmt.Errorf("%s: not a record of an approval: %w", file, err)
	}
	sum := sha256.Sum256(record.Content)
	if record.SHA256 != hex.EncodeToString(sum[:]) {
		return Approval{}, fmt.Errorf("%s: content and hash differ", file)
	}
	return record, nil
}
