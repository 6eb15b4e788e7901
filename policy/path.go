package policy

import (
	"path"
	"strings"
)

// A host path in this package is absolute, slash-separated and clean: no "."
// or ".." component, no doubled or trailing slash, no NUL. It is a string of
// bytes, not of runes: Linux allows any byte but "/" and NUL in a name, and
// names that are not UTF-8 are legal everywhere here.

// IsHostPath reports whether p is an absolute clean path as this package
// requires it. It does not look at the file system.
func IsHostPath(p string) bool {
	return strings.HasPrefix(p, "/") && path.Clean(p) == p && strings.IndexByte(p, 0) < 0
}

// Contains reports whether p is dir itself or lies below it, by whole
// components: /a contains /a and /a/b, not /ab.
func Contains(dir, p string) bool {
	if dir == "/" {
		return strings.HasPrefix(p, "/")
	}
	return strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}

// ComparePaths orders host paths so that a directory comes right before all
// that lies below it: "/" sorts below every other byte. Walking entries in
// this order meets parents before children, and each subtree in one piece.
func ComparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if a[i] == '/' || (b[i] != '/' && a[i] < b[i]) {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}

// parent returns the directory that holds the host path p, and "/" for "/".
// It allocates nothing, unlike path.Dir on unclean input.
func parent(p string) string {
	if i := strings.LastIndexByte(p, '/'); i > 0 {
		return p[:i]
	}
	return "/"
}

// join puts a relative name below dir without doubling the slash of "/".
func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}
