package config

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft-07) of sbx.yaml and of the user's
// file, for editors. It is narrower than no loader and wider than ours: that
// keys stand once, that roots exist and what a file may say where, only Load
// and Validate know.
func Schema() []byte { return append([]byte(nil), schema...) }
