package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sbx-run/sbx/platform"
	"github.com/sbx-run/sbx/policy"
)

// outerVariable tells a command what confines it. sbx itself reads it when it
// runs inside: to say what it cannot give and to narrow what is left. It is
// not believed for more than that, and a command that rewrites it gains
// nothing: the kernel holds the outer walls.
const outerVariable = "SBX_OUTER"

// maxOuterText bounds the variable; the kernel ends at 128 KiB for one
// (MAX_ARG_STRLEN, execve(2)).
const maxOuterText = 96 << 10

// compressed marks a description that was too long as plain text.
const compressed = "deflate:"

// describeOuter returns the variable for a command that runs under plan.
func describeOuter(plan platform.Plan, depth int) (string, bool) {
	if plan.Backend == platform.None {
		return "", false
	}
	text, err := plan.Effective.Describe(depth, string(plan.Backend)).MarshalJSON()
	if err != nil {
		return "", false
	}
	if len(text) < maxOuterText {
		return outerVariable + "=" + string(text), true
	}
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return "", false
	}
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	packed := compressed + base64.StdEncoding.EncodeToString(b.Bytes())
	return outerVariable + "=" + packed, err == nil && len(packed) < maxOuterText
}

// outerDescription reads what confines this process. It is false outside of
// any sandbox, and in one that says nothing about itself.
func outerDescription() (policy.Description, bool) {
	text := os.Getenv(outerVariable)
	if text == "" || !confined() {
		return policy.Description{}, false
	}
	var r io.Reader = strings.NewReader(text)
	if packed, ok := strings.CutPrefix(text, compressed); ok {
		r = flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	}
	var d policy.Description
	if err := json.NewDecoder(io.LimitReader(r, maxDescription)).Decode(&d); err != nil || !d.Readable() {
		return policy.Description{}, false
	}
	if d.Backend == string(platform.Builtin) {
		d = d.WithPrivate(os.Getenv("HOME"), os.Getenv("TMPDIR"))
	}
	return d, true
}

// maxDescription keeps a made-up variable from filling the memory.
const maxDescription = 16 << 20

// confined reports whether the kernel holds this process in a filter that it
// can not leave, as every sandbox of ours does. Without that a description is
// a variable that anybody has set.
func confined() bool {
	status, err := os.ReadFile("/proc/self/status")
	return err == nil && bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n")) && bytes.Contains(status, []byte("\nSeccomp:\t2\n"))
}

// drawOuter prints the walls around the sandbox that this process runs in.
func (a *app) drawOuter(e policy.Effective) {
	fmt.Fprintf(a.ui.out, "outer        readable %s\n", printable(orNone(e.MountRoots(policy.Read))))
	fmt.Fprintf(a.ui.out, "             writable %s\n", printable(orNone(e.MountRoots(policy.Write))))
	fmt.Fprintf(a.ui.out, "             network %s\n", networkWord(e.Network))
}

// withOuter adds the description to an environment.
func withOuter(env []string, plan platform.Plan) []string {
	depth := 1
	if d, ok := outerDescription(); ok {
		depth = d.Depth + 1
	}
	variable, ok := describeOuter(plan, depth)
	if !ok {
		return env
	}
	kept := make([]string, 0, len(env)+1)
	for _, v := range env {
		if !strings.HasPrefix(v, outerVariable+"=") {
			kept = append(kept, v)
		}
	}
	return append(kept, variable)
}
