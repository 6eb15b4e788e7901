package platform

import (
	"io/fs"
	"os"
	"path/filepath"
)

// managerSockets are, below $XDG_RUNTIME_DIR, the user's own systemd and the
// bus on which it can be asked to move a process.
var managerSockets = []string{"systemd/private", "bus"}

// ServiceManager reports whether the user's own service manager is there. It
// can make control groups for a login that may not.
func ServiceManager() bool {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	for _, socket := range managerSockets {
		if info, err := os.Stat(filepath.Join(dir, socket)); err != nil || info.Mode().Type() != fs.ModeSocket {
			return false
		}
	}
	return filepath.IsAbs(dir)
}
