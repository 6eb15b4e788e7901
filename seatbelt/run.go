package seatbelt

import (
	"strconv"
	"strings"

	"github.com/sbx-run/sbx/policy"
)

// Run is what one run adds to a policy. The zero value adds nothing.
type Run struct {
	// Private are the run's own directories, such as its home and TMPDIR:
	// readable, writable, and the one place where AF_UNIX sockets can be made
	// and reached if the policy lets the command have its own. They are
	// resolved paths; each becomes a parameter.
	Private []string

	// ProxyPort is the loopback port of the proxy that enforces the hosts of
	// policy.NetworkList; the command reaches nothing else. 0 is no proxy.
	ProxyPort int

	// Terminal is the terminal that the command inherits, such as
	// /dev/ttys003. Empty gives it no terminal and no pseudo-terminals.
	Terminal string

	// DeveloperDir is the resolved active developer directory, the
	// enclosing .../Contents of an Xcode. The command line tools are always
	// readable.
	DeveloperDir string

	// Tag ends the kernel's log line of each refusal, to find those of this
	// run. Letters, digits, "-" and "." only, at most 64: the log is readable
	// by others.
	Tag string
}

// paramName names the i-th private directory.
func paramName(i int) string { return "PRIVATE_" + strconv.Itoa(i+1) }

// check reports values that no profile can hold.
func (r Run) check(e policy.Effective) error {
	for _, p := range append([]string{r.Terminal, r.DeveloperDir}, r.Private...) {
		if p == "" {
			continue
		}
		if err := checkPath(p, policy.Rule{Text: "run"}); err != nil {
			return err
		}
	}
	for _, p := range r.Private {
		if p == "" || p == "/" {
			return &RunError{Field: "Private", Value: p, Reason: "want a directory below the root"}
		}
	}
	if r.Terminal != "" && !strings.HasPrefix(r.Terminal, "/dev/tty") {
		return &RunError{Field: "Terminal", Value: r.Terminal, Reason: "want a terminal in /dev"}
	}
	if len(r.Tag) > 64 || strings.Trim(r.Tag, tagAlphabet) != "" {
		return &RunError{Field: "Tag", Value: r.Tag, Reason: "want at most 64 letters, digits, dots and dashes"}
	}
	if r.ProxyPort < 0 || r.ProxyPort > 65535 {
		return &RunError{Field: "ProxyPort", Value: strconv.Itoa(r.ProxyPort), Reason: "want 1 to 65535"}
	}
	if r.ProxyPort != 0 && e.Network.Mode != policy.NetworkList {
		return &RunError{Field: "ProxyPort", Value: strconv.Itoa(r.ProxyPort), Reason: "only an allow-list has a proxy"}
	}
	return nil
}

const tagAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"
