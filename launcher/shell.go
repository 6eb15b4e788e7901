package launcher

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// ShellOptions are what Shell may be told beyond the command string. The zero
// value is a command without input, in the policy's working directory if that
// is visible and in the private home otherwise.
type ShellOptions struct {
	Dir     string        // working directory, a path of the sandbox
	Env     []string      // the caller's environment, from which the policy picks; nil is os.Environ()
	Stdin   io.Reader     // streamed, read no further than the command reads, give or take a pipe
	Timeout time.Duration // 0 is the policy's limit
}

// Shell runs a command string with /bin/sh -c under the plan: the body of a
// shell tool. Whatever the command does is in the result; an error says that
// it did not run.
//
// With the built-in backend a command's detached background processes survive
// unless the calling program has made itself their heir: programs without
// children of their own use Capture with Command.Reap.
func Shell(ctx context.Context, plan platform.Plan, command string, o ShellOptions) (Captured, error) {
	e := plan.Effective
	cmd := Command{Argv: []string{"/bin/sh", "-c", command}, Dir: o.Dir, Timeout: o.Timeout}
	if cmd.Dir == "" {
		cmd.Dir = StartDirectory(e)
	}
	if cmd.Timeout == 0 {
		cmd.Timeout = e.Limits.Timeout
	}
	host := o.Env
	if host == nil {
		host = os.Environ()
	}
	cmd.Env = Environment(e, host, cmd.Dir)
	input, stop, err := inputOf(o.Stdin)
	if err != nil {
		return Captured{}, err
	}
	defer stop()
	cmd.Stdin = input
	return Capture(ctx, plan, cmd)
}

// StartDirectory is the policy's working directory where a command sees it,
// and its private home otherwise.
func StartDirectory(e policy.Effective) string {
	if cwd := e.Places.Cwd; cwd != "" && e.CanRead(cwd) {
		return cwd
	}
	return Home(e)
}

// inputOf makes a file of a reader: the command gets files as they are, the
// rest through a pipe. A reader that blocks past the end of the run keeps its
// goroutine until it returns.
func inputOf(r io.Reader) (f *os.File, stop func(), err error) {
	if f, ok := r.(*os.File); ok || r == nil {
		return f, func() {}, nil
	}
	f, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	go func() {
		defer w.Close()
		_, _ = io.Copy(w, r) // ends when the command has no reader left
	}()
	return f, func() { f.Close() }, nil
}
