package main

import (
	"errors"

	"github.com/sbx-run/sbx/launcher"
	"github.com/sbx-run/sbx/policy"
	"github.com/sbx-run/sbx/policy/config"
	"github.com/sbx-run/sbx/policy/files"
)

// Exit codes. run passes the command's own status through, 128+n after signal
// n, and uses the codes of env(1) and timeout(1) for what sbx itself reports.
// The other verbs answer 0 yes, 1 no, 2 no answer.
const (
	exitYes           = 0
	exitNo            = 1
	exitNoAnswer      = 2
	exitTimedOut      = 124
	exitFailed        = 125
	exitNotExecutable = 126
	exitNotFound      = 127
)

// exitCode is the one place that maps an error to an exit code.
func exitCode(verb string, err error) int {
	if verb != "run" {
		if refused(err) {
			return exitNo
		}
		return exitNoAnswer
	}
	var command *launcher.CommandError
	switch {
	case errors.As(err, &command) && command.NotFound:
		return exitNotFound
	case errors.As(err, &command):
		return exitNotExecutable
	}
	return exitFailed
}

// refused reports whether an error is the answer no: the policy, the file or
// this machine does not allow what was asked.
func refused(err error) bool {
	return is[*policy.BackendUnavailableError](err) ||
		is[*policy.PathNotInSandboxError](err) || is[*policy.PathNotWritableError](err) ||
		is[*policy.SuffixNotAllowedError](err) || is[*policy.FileTooLargeError](err) ||
		is[*files.NotFoundError](err) || is[*files.WrongTypeError](err) || is[*files.NotTextError](err) ||
		is[*files.ChangedError](err) || is[*files.IOError](err)
}

// errorKind names an error for programs. The names are part of the contract.
func errorKind(err error) string {
	switch {
	case is[*usageError](err):
		return "usage"
	case is[*policy.InvalidPathError](err):
		return "invalid_path"
	case is[*files.NotFoundError](err):
		return "not_found"
	case is[*files.WrongTypeError](err), is[*files.NotTextError](err):
		return "wrong_type"
	case is[*files.ChangedError](err), is[*files.IOError](err):
		return "io"
	case is[*policy.PathNotInSandboxError](err):
		return "path_not_in_sandbox"
	case is[*policy.PathNotWritableError](err):
		return "path_not_writable"
	case is[*policy.SuffixNotAllowedError](err):
		return "suffix_not_allowed"
	case is[*policy.FileTooLargeError](err):
		return "file_too_large"
	case is[*policy.PermissionEscalationError](err):
		return "permission_escalation"
	case is[*policy.NetworkDeniedError](err):
		return "network_denied"
	case is[*policy.BackendUnavailableError](err):
		return "backend_unavailable"
	case is[*launcher.CommandError](err):
		return "command"
	case is[*launcher.LimitError](err):
		return "limit"
	case is[*launcher.SetupError](err):
		return "setup"
	case is[*config.TrustError](err):
		return "trust"
	case is[*sessionError](err), is[*noSessionError](err):
		return "session"
	case is[*config.NotAvailableError](err):
		return "not_available"
	case is[*config.FaultsError](err), is[*policy.ConfigError](err), is[*policy.RequestError](err), is[*policy.LinkedRootError](err), is[*policy.DuplicateRootError](err), is[*policy.AliasError](err):
		return "config"
	}
	return "error"
}

func is[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}
