//go:build unix

package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/policy"
)

// DefaultMaxChars is how many characters a tool reads of a file unless it is
// told otherwise.
const DefaultMaxChars = 200_000

// Text is what Read has read.
type Text struct {
	Content   string
	Truncated bool  // there is more in the file
	Size      int64 // bytes of the whole file
}

// Read returns up to maxChars characters from the start of the text file at
// the sandbox path p. Before any byte is read it refuses, besides paths that
// are not readable, what is no regular file (*WrongTypeError), a suffix
// (*policy.SuffixNotAllowedError) and a size (*policy.FileTooLargeError) that
// the mount excludes. What is not text is a *NotTextError, a file that changes
// meanwhile a *ChangedError.
func (f Files) Read(p string, maxChars int) (Text, error) {
	if maxChars < 1 {
		return Text{}, &policy.RequestError{Argument: "max_chars", Value: strconv.Itoa(maxChars), Problem: "at least 1 is needed"}
	}
	file, at, before, err := f.openToRead(p)
	if err != nil {
		return Text{}, err
	}
	defer file.Close()
	text, err := at.readText(file, before, maxChars)
	var errno unix.Errno
	if errors.As(err, &errno) {
		err = f.failed(policy.Read, p, at.host, errno)
	}
	return text, err
}

// readText reads an opened file that looked like before when it was opened.
func (at place) readText(file *os.File, before unix.Stat_t, maxChars int) (Text, error) {
	if err := at.checkSize(before.Size); err != nil {
		return Text{}, err
	}
	// One byte more than the characters can take: what is cut off shows.
	want := min(int64(maxChars), maxBytes)*utf8.UTFMax + int64(len(byteOrderMark)) + 1
	data, err := io.ReadAll(io.LimitReader(file, want))
	if err != nil {
		return Text{}, numberOf(err)
	}
	after, err := fstat(file)
	switch {
	case err != nil:
		return Text{}, err
	case !unchanged(before, after):
		return Text{}, &ChangedError{Op: policy.Read, Path: at.asked}
	}
	if err := at.checkSize(int64(len(data))); err != nil {
		return Text{}, err // the size was not told, as for files that the kernel makes up
	}
	content, truncated, err := decode(data, maxChars)
	if err != nil {
		return Text{}, &NotTextError{Path: at.asked, Reason: err.Error()}
	}
	return Text{Content: content, Truncated: truncated, Size: max(before.Size, int64(len(data)))}, nil
}

// maxBytes keeps the arithmetic on sizes far from its limits.
const maxBytes = 1 << 40

// openToRead opens the regular file at p and returns what the descriptor says
// about it. Pipes and devices are not opened at all.
func (f Files) openToRead(p string) (*os.File, place, unix.Stat_t, error) {
	for range attempts {
		at, err := f.locate(policy.Read, p)
		if err != nil {
			return nil, at, unix.Stat_t{}, err
		}
		file, st, err := at.openToRead()
		at.dir.close()
		switch {
		case err == nil:
			return file, at, st, nil
		case changedOnTheWay(err):
			continue
		}
		var errno unix.Errno
		if errors.As(err, &errno) {
			err = f.failed(policy.Read, p, at.host, errno)
		}
		return nil, at, st, err
	}
	return nil, place{}, unix.Stat_t{}, &ChangedError{Op: policy.Read, Path: p}
}

func (at place) openToRead() (*os.File, unix.Stat_t, error) {
	st, err := at.dir.stat(at.name)
	if err == nil {
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return nil, st, unix.ELOOP // it was none when the path was resolved
		}
		err = at.checkType(policy.Read, st)
	}
	if suffix := at.checkSuffix(); suffix != nil && (err == nil || errors.Is(err, unix.ENOENT)) {
		return nil, st, suffix
	}
	if err != nil {
		return nil, st, err
	}
	if namesDirectory(at.asked) {
		return nil, st, &WrongTypeError{Op: policy.Read, Path: at.asked, Is: "file", Want: "directory"}
	}
	file, err := at.dir.open(at.name, unix.O_RDONLY, 0)
	if err != nil {
		return nil, st, err
	}
	if st, err = fstat(file); err == nil {
		err = at.checkType(policy.Read, st)
	}
	if err != nil {
		_ = file.Close()
		return nil, st, err
	}
	return file, st, nil
}

func (at place) checkType(op policy.Access, st unix.Stat_t) error {
	if isRegular(st) {
		return nil
	}
	return &WrongTypeError{Op: op, Path: at.asked, Is: typeName(uint32(st.Mode)), Want: "file"}
}

// unchanged compares two looks at one descriptor. The change time cannot be
// set back, unlike the modification time.
func unchanged(a, b unix.Stat_t) bool {
	return a.Size == b.Size && a.Mtim == b.Mtim && a.Ctim == b.Ctim
}

const byteOrderMark = "\ufeff"

// decode makes text of data and cuts it after maxChars characters.
func decode(data []byte, maxChars int) (content string, truncated bool, err error) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return "", false, errors.New("it is UTF-16, and only UTF-8 is read")
	}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	chars, i := 0, 0
	for i < len(data) && chars < maxChars {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == 0:
			return "", false, fmt.Errorf("it holds a NUL, at byte %d", i)
		case r == utf8.RuneError && size == 1:
			return "", false, fmt.Errorf("it is not UTF-8, at byte %d", i)
		}
		i += size
		chars++
	}
	return string(data[:i]), i < len(data), nil
}
