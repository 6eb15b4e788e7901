package platform

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// systemDirs come before PATH: whoever sets PATH for a tool call should not
// thereby choose the program that builds the walls.
var systemDirs = []string{"/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"}

// findBwrap returns the first bubblewrap that nobody but its owner, root or
// the caller, can have replaced. Relative directories of PATH and those at or
// below cwd are passed over. reasons says why candidates were refused.
func findBwrap(pathList, cwd string) (program string, reasons []string) {
	dirs := append([]string{}, systemDirs...)
	for _, dir := range filepath.SplitList(pathList) {
		if filepath.IsAbs(dir) && !within(cwd, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		p := filepath.Join(dir, "bwrap")
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			continue
		}
		if err := trustworthy(real); err != nil {
			reasons = append(reasons, err.Error())
			continue
		}
		return real, reasons
	}
	return "", reasons
}

func within(dir, p string) bool {
	p = filepath.Clean(p)
	return dir != "" && dir != "/" && (p == dir || strings.HasPrefix(p, dir+"/"))
}

// trustworthy refuses a program that others could have written, and one that
// is setuid: that mode of bubblewrap lacks most options and has a history of
// its own (CVE-2020-5291, CVE-2026-41163).
func trustworthy(p string) error {
	var st unix.Stat_t
	if err := unix.Stat(p, &st); err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return fmt.Errorf("%s is not a regular file", p)
	case st.Mode&0o111 == 0:
		return fmt.Errorf("%s is not executable", p)
	case st.Mode&unix.S_ISUID != 0:
		return fmt.Errorf("%s is setuid, which sbx does not use", p)
	case st.Mode&0o022 != 0:
		return fmt.Errorf("%s is writable by others (mode %04o)", p, st.Mode&0o7777)
	case st.Uid != 0 && int(st.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to user %d", p, st.Uid)
	}
	return dirTrustworthy(filepath.Dir(p))
}

func dirTrustworthy(dir string) error {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if st.Mode&0o022 != 0 && st.Mode&unix.S_ISVTX == 0 || st.Uid != 0 && int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s can be changed by others", dir)
	}
	return nil
}
