package config

import (
	"errors"

	"github.com/sbx-run/sbx/policy"
)

// Validate returns all faults of a file, in file order: of its text, and if
// that has none, of what it names on this host. nil is a valid file. What is
// not available yet, or needs trust, is no fault of the file.
func Validate(file string, host Host) []*policy.ConfigError {
	src, err := named(file, host)
	if err != nil {
		return faultsOf(err)
	}
	if src.Kind == WorkerDefinition {
		_, faults := DecodeWorker(src.data)
		return inFile(src.Name, faults)
	}
	c, faults := Decode(src.data, src.Kind)
	if len(faults) > 0 {
		return inFile(src.Name, faults)
	}
	b := &builder{host: host}
	b.file(src, c)
	return inOrder(b.faults)
}

// faultsOf takes an error of this package apart.
func faultsOf(err error) []*policy.ConfigError {
	var many *FaultsError
	if errors.As(err, &many) {
		return many.Faults
	}
	var one *policy.ConfigError
	if errors.As(err, &one) {
		return []*policy.ConfigError{one}
	}
	return []*policy.ConfigError{{Message: err.Error()}}
}
