package launcher

import (
	"context"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/sbx-run/sbx/platform"
)

// DefaultOutput is how many characters of a stream are kept without a limit
// of the policy.
const DefaultOutput = 50_000

// Captured is a Result with what the command wrote.
type Captured struct {
	Result
	Stdout, Stderr Text
}

// Text is the beginning of a stream.
type Text struct {
	Content string
	Dropped int64 // bytes that followed and were read away
}

// Truncated reports whether anything was dropped.
func (t Text) Truncated() bool { return t.Dropped > 0 }

// Marked returns the content with a last line that says how much is missing.
func (t Text) Marked() string {
	if !t.Truncated() {
		return t.Content
	}
	return fmt.Sprintf("%s\n[sbx: %d more bytes dropped]\n", t.Content, t.Dropped)
}

// RunCaptured is Run with stdout and stderr kept, each up to limit characters;
// 0 is DefaultOutput. What exceeds it is read and dropped, so that the command
// never blocks on it and memory stays bounded.
func RunCaptured(ctx context.Context, plan platform.Plan, cmd Command, limit int64) (Captured, error) {
	if limit <= 0 {
		limit = DefaultOutput
	}
	stdout, err := newCapture(limit)
	if err != nil {
		return Captured{}, err
	}
	stderr, err := newCapture(limit)
	if err != nil {
		stdout.finish()
		return Captured{}, err
	}
	cmd.Stdout, cmd.Stderr = stdout.w, stderr.w
	result, err := Run(ctx, plan, cmd)
	return Captured{Result: result, Stdout: stdout.finish(), Stderr: stderr.finish()}, err
}

// capture reads a pipe from the moment it exists.
type capture struct {
	w    *os.File
	done chan Text
}

func newCapture(limit int64) (*capture, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &capture{w: w, done: make(chan Text, 1)}
	go func() {
		defer r.Close()
		c.done <- readText(r, limit)
	}()
	return c, nil
}

// finish closes our end and returns what was read. The command's processes
// are gone by now, so the pipe ends.
func (c *capture) finish() Text {
	c.w.Close()
	return <-c.done
}

// readText keeps the first limit characters. A character takes up to four
// bytes, and a byte that is not UTF-8 counts as one.
func readText(r io.Reader, limit int64) Text {
	head, _ := io.ReadAll(io.LimitReader(r, limit*utf8.UTFMax))
	rest, _ := io.Copy(io.Discard, r)
	cut := 0
	for n := int64(0); n < limit && cut < len(head); n++ {
		_, size := utf8.DecodeRune(head[cut:])
		cut += size
	}
	return Text{Content: string(head[:cut]), Dropped: int64(len(head)-cut) + rest}
}
