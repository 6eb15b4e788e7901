package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxOwnBytes bounds a file of sbx's own: an approval holds a policy file.
const maxOwnBytes = 4 << 20

// ReadOwn reads a file that sbx keeps for the user. It must be a regular file
// of the user that nobody else may write.
func ReadOwn(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if problem := notOurs(info); problem != "" {
		return nil, fmt.Errorf("%s: %s", file, problem)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxOwnBytes+1))
	if err == nil && len(data) > maxOwnBytes {
		err = fmt.Errorf("%s: larger than %d bytes", file, maxOwnBytes)
	}
	return data, err
}

// OwnDirectory makes a directory of sbx's own, mode 0700, or checks that the
// one that is there is the user's alone: /tmp is everybody's.
func OwnDirectory(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if problem := notOurs(info); problem != "" || !info.IsDir() {
		return fmt.Errorf("%s: %s", dir, cmp.Or(problem, "not a directory"))
	}
	return nil
}

// ReplaceFile writes a file of sbx's own, mode 0600, as a whole or not at all.
func ReplaceFile(file string, data []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	if _, err = temp.Write(data); err == nil {
		err = temp.Chmod(approvalMode)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}
