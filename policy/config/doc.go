// Package config turns files and flags into a [policy.Sandbox].
//
// # Model
//
//	bytes -> node -> Config -> policy.Spec -> policy.Sandbox
//
// The first arrow knows YAML and nothing else (yaml.go, the only importer of
// a YAML module). The second knows the keys of a file and nothing of the host
// ([Decode]). The third resolves roots, presets and patterns on the host
// ([Load]).
//
// # Invariants
//
//	a file has a fault        ⇒  nothing of it is used
//	Decode(b) = (c, faults)   ⇒  c = nil xor faults = ∅
//	a key is accepted         ⇒  it is enforced, or Load or Ready refuses it by name
//	a file was discovered     ⇒  it grants below its own directory only, or the user trusts its hash
//
// All faults of a file are reported at once, each with line and column. The
// bytes that are checked, hashed and used are the same bytes: a file is read
// once.
//
// # Host
//
// Everything that Load takes from its surroundings comes in through [Host], but
// for the file system and the caller's uid. A run without any file parses
// nothing.
package config
