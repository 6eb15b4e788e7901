package files

import "golang.org/x/sys/unix"

// searchOnly opens a directory to look names up in it, without the right to
// list it.
const searchOnly = unix.O_SEARCH

// spelled refuses a name that the directory does not hold byte for byte. Most
// volumes fold case and composition, so another spelling would open what a
// rule names.
func spelled(d dir, name string) error {
	if name == "." {
		return nil
	}
	names, err := d.names()
	if err != nil {
		return err
	}
	for _, n := range names {
		if n.Name() == name {
			return nil
		}
	}
	return unix.ENOENT
}
