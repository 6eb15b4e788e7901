//go:build !linux

package policy

import "os"

// listing reads directories.
type listing struct{}

// read returns what dir holds.
func (l *listing) read(dir string) (names, error) {
	var n names
	f, err := os.Open(dir)
	if err != nil {
		return n, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		n.add([]byte(e.Name()), e.IsDir())
	}
	return n, err
}
