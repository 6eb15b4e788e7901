package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sbx-run/sbx/policy/config"
)

// A session holds what the user changes of the workspace for a while. It is a
// file in the runtime directory, which goes with the log-in and which no
// sandbox shows: a command can not change the session that it runs in.

// sessionError reports a session that cannot be used.
type sessionError struct {
	ID      string
	Problem string // a clause
}

func (e *sessionError) Error() string { return "session " + e.ID + " " + e.Problem }

// Hint says how to get one.
func (e *sessionError) Hint() string {
	return "export SBX_SESSION=$(sbx session start), or unset SBX_SESSION"
}

// runtimeDirectory is where sessions live: the log-in's own directory, or one
// under /tmp that only this user may enter.
func runtimeDirectory() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); strings.HasPrefix(dir, "/") {
		return filepath.Join(dir, "sbx")
	}
	return "/tmp/sbx-runtime-" + strconv.Itoa(os.Getuid())
}

// sessionFile returns the path of a session's record. An ID is what newID
// makes, so it never names anything else.
func sessionFile(id string) (string, error) {
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != idBytes {
		return "", &sessionError{id, "is not the name of a session"}
	}
	return filepath.Join(runtimeDirectory(), "sessions", id+".json"), nil
}

const idBytes = 6

func newID() string {
	raw := make([]byte, idBytes)
	_, _ = rand.Read(raw) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(raw)
}

// readSession reads what a session changes.
func readSession(id string) (*config.Overrides, error) {
	file, err := sessionFile(id)
	if err != nil {
		return nil, err
	}
	data, err := config.ReadOwn(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &sessionError{id, "is gone: it was ended, or the log-in that it belonged to has"}
	}
	if err != nil {
		return nil, &sessionError{id, "cannot be read: " + err.Error()}
	}
	var o config.Overrides
	if err := json.Unmarshal(data, &o); err != nil || o.ID != id {
		return nil, &sessionError{id, "has a record that is not one"}
	}
	return &o, nil
}

// writeSession keeps what a session changes, for this user alone.
func writeSession(o config.Overrides) error {
	file, err := sessionFile(o.ID)
	if err != nil {
		return err
	}
	for _, dir := range []string{runtimeDirectory(), filepath.Dir(file)} {
		if err := config.OwnDirectory(dir); err != nil {
			return err
		}
	}
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return config.ReplaceFile(file, data)
}

// registerSession adds the flag by which a verb names its session.
func (f *policyFlags) registerSession(s *pflag.FlagSet) {
	s.StringVar(&f.session, "session", "", "use the workspace of the session `ID`; default $SBX_SESSION")
}

// currentSession returns the session that the flag or the environment names;
// nil is none.
func (f *policyFlags) currentSession() (*config.Overrides, error) {
	id := f.session
	switch {
	case id != "" && f.config != "":
		return nil, &usageError{err: errors.New("--session changes the workspace, --config names another policy; give one of them"), verb: "sbx run"}
	case id == "":
		id = os.Getenv("SBX_SESSION")
	}
	if id == "" || f.config != "" {
		return nil, nil
	}
	return readSession(id)
}

func (a *app) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Start and end sessions, which change the workspace for a while",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.sessionStart(), a.sessionStatus(), a.sessionEnd())
	return cmd
}

func (a *app) sessionStart() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "start",
		Short:   "Start a session and print its name",
		Example: `  export SBX_SESSION=$(sbx session start)`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := outsideOnly("sbx session"); err != nil {
				return err
			}
			o := config.Overrides{ID: newID()}
			if root := os.Getenv("SBX_WORKSPACE"); root != "" {
				abs, err := filepath.Abs(root)
				if err != nil {
					return err
				}
				o.Root = abs
			}
			if err := writeSession(o); err != nil {
				return err
			}
			if a.json {
				a.ui.object(o)
				return nil
			}
			fmt.Fprintln(a.ui.out, o.ID)
			if os.Getenv("SBX_SESSION") != o.ID && isTerminal(os.Stdout) {
				a.ui.hint("export SBX_SESSION=" + o.ID)
			}
			return nil
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) sessionStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [ID]",
		Short: "Print the workspace as the session has it",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			var f policyFlags
			o, err := sessionNamed(args)
			if err != nil {
				return err
			}
			f.session = o.ID
			return a.workspaceStatus(&f)
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) sessionEnd() *cobra.Command {
	return &cobra.Command{
		Use:   "end [ID]",
		Short: "End a session: its changes are gone",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := outsideOnly("sbx session"); err != nil {
				return err
			}
			o, err := sessionNamed(args)
			if err != nil {
				return err
			}
			file, err := sessionFile(o.ID)
			if err != nil {
				return err
			}
			return os.Remove(file)
		},
	}
}

// sessionNamed returns the session that the argument or the environment names.
func sessionNamed(args []string) (config.Overrides, error) {
	id := os.Getenv("SBX_SESSION")
	if len(args) > 0 {
		id = args[0]
	}
	if id == "" {
		return config.Overrides{}, &noSessionError{}
	}
	o, err := readSession(id)
	if err != nil {
		return config.Overrides{}, err
	}
	return *o, nil
}

// noSessionError reports a change that has no session to be made in.
type noSessionError struct{}

func (*noSessionError) Error() string {
	return "no session: changes of the workspace belong to one, the user's file stays as it is"
}

// Hint says how to get one.
func (*noSessionError) Hint() string { return "export SBX_SESSION=$(sbx session start)" }
