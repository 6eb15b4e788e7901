package files

import "golang.org/x/sys/unix"

// searchOnly opens a directory to look names up in it, without the right to
// list it.
const searchOnly = unix.O_PATH

// spelled has nothing to check: names are bytes.
func spelled(dir, string) error { return nil }
