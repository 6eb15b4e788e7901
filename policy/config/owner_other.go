//go:build !unix

package config

import "io/fs"

// foreignOwner has nothing to say where files have no uid.
func foreignOwner(fs.FileInfo, Host) string { return "" }
