package launcher

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"time"
	"unicode/utf8"

	"github.com/sbx-run/sbx/platform"
)

// DefaultOutput is how many characters of a stream are kept without a limit
// of the policy.
const DefaultOutput = 50_000

// Captured is a Result with what the command wrote and what there is to say
// about it.
type Captured struct {
	Result
	Stdout, Stderr Text
	Backend        platform.Backend
	Guarantees     []platform.Guarantee
	Notes          []string // see Notes; empty after a success
}

// Text is the beginning of a stream.
type Text struct {
	Content string // any bytes; cut between characters
	Dropped int64  // bytes that followed and were read away
}

// Truncated reports whether anything was dropped.
func (t Text) Truncated() bool { return t.Dropped > 0 }

// Valid reports whether the content is UTF-8, which JSON strings must be.
func (t Text) Valid() bool { return utf8.ValidString(t.Content) }

// Marked returns the content with a last line that says how much is missing.
func (t Text) Marked() string {
	if !t.Truncated() {
		return t.Content
	}
	return fmt.Sprintf("%s\n[sbx: %d more bytes dropped]\n", t.Content, t.Dropped)
}

// Capture is Run with stdout and stderr kept, each up to the policy's limit of
// characters. What exceeds it is read and dropped, so that the command never
// blocks on it and memory stays bounded.
func Capture(ctx context.Context, plan platform.Plan, cmd Command) (Captured, error) {
	limit := plan.Effective.Limits.Output
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
	c := Captured{
		Result: result, Stdout: stdout.finish(), Stderr: stderr.finish(),
		Backend: plan.Backend, Guarantees: plan.Guarantees(),
	}
	if err == nil {
		c.Notes = Notes(plan, cmd, c)
	}
	return c, err
}

// capture reads a pipe from the moment it exists.
type capture struct {
	r, w *os.File
	done chan Text
}

func newCapture(limit int64) (*capture, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &capture{r: r, w: w, done: make(chan Text, 1)}
	go func() {
		defer r.Close()
		c.done <- readText(r, limit)
	}()
	return c, nil
}

// leftover is how long a stream may stay open after the run. The kernel has
// ended all who could hold it, except where no namespace and nobody to reap
// them lets processes of the command live on.
const leftover = 500 * time.Millisecond

// finish closes our end and returns what was read.
func (c *capture) finish() Text {
	c.w.Close()
	_ = c.r.SetReadDeadline(time.Now().Add(leftover)) // closed already if the stream has ended
	return <-c.done
}

// readText keeps the first limit characters. A character takes up to four
// bytes, and a byte that is not UTF-8 counts as one.
func readText(r io.Reader, limit int64) Text {
	most := int64(math.MaxInt64)
	if limit < math.MaxInt64/utf8.UTFMax {
		most = limit * utf8.UTFMax
	}
	head, _ := io.ReadAll(io.LimitReader(r, most))
	cut := 0
	for n := int64(0); n < limit && cut < len(head); n++ {
		_, size := utf8.DecodeRune(head[cut:])
		cut += size
	}
	return Text{Content: string(head[:cut]), Dropped: int64(len(head)-cut) + drain(r)}
}

// drain reads a stream to its end and counts. The reader is hidden behind a
// bare one so that io.CopyBuffer uses the buffer, which holds what a pipe does.
func drain(r io.Reader) int64 {
	one := make([]byte, 1)
	n, err := r.Read(one)
	if n == 0 && err != nil {
		return 0 // by far the most common: no large buffer for it
	}
	rest, _ := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, make([]byte, 64<<10))
	return int64(n) + rest
}
