//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

func fileVerbs() map[string]verb {
	return map[string]verb{
		"read":      {1, func(a []string) verdict { return readSecret(a[0]) }},
		"create":    {1, func(a []string) verdict { return plant(a[0], os.O_CREATE|os.O_WRONLY) }},
		"overwrite": {1, func(a []string) verdict { return plant(a[0], os.O_WRONLY|os.O_TRUNC) }},
		"append":    {1, func(a []string) verdict { return plant(a[0], os.O_WRONLY|os.O_APPEND) }},
		"replace":   {1, replace},
		"mkdir":     {1, func(a []string) verdict { return outcome(os.MkdirAll(a[0], 0o755), "made") }},
		"link":      {2, func(a []string) verdict { return outcome(os.Link(a[0], a[1]), "linked") }},
		"symlink":   {2, func(a []string) verdict { return outcome(os.Symlink(a[0], a[1]), "linked") }},
		"rename":    {2, func(a []string) verdict { return outcome(os.Rename(a[0], a[1]), "renamed") }},
		"exchange":  {2, exchange},
		"remove":    {1, remove},
		"list":      {2, list},
		"writable":  {1, openForWriting},
		"make":      {1, makeAndRemove},
		"readable":  {1, readable},
		"upgrade":   {1, upgrade},
		"await":     {1, await},
		"suffixed":  {2, func(a []string) verdict { return readSecret(a[0] + a[1]) }},
	}
}

// readSecret is allowed only if the secret itself was read: a mask reads as
// empty.
func readSecret(path string) verdict {
	f, err := os.Open(path)
	if err != nil {
		return blocked(err)
	}
	defer f.Close()
	return findSecret(f)
}

const enough = 1 << 20

func findSecret(r io.Reader) verdict {
	content, err := io.ReadAll(io.LimitReader(r, enough))
	if bytes.Contains(content, []byte(secret)) {
		return allowed("the secret was read")
	}
	if err != nil {
		return blocked(err)
	}
	return blockedFor("%d bytes without the secret", len(content))
}

// readable reads the first bytes of a file, whatever they are.
func readable(a []string) verdict {
	f, err := os.Open(a[0])
	if err != nil {
		return blocked(err)
	}
	defer f.Close()
	n, err := f.Read(make([]byte, 64))
	if n == 0 {
		return blockedFor("nothing is in it: %v", err)
	}
	return allowed("it was read")
}

// upgrade opens what was opened for reading, or for nothing, once more.
func upgrade(a []string) verdict {
	last := verdict{}
	for _, how := range []int{unix.O_RDONLY, unix.O_PATH} {
		fd, err := unix.Open(a[0], how|unix.O_CLOEXEC, 0)
		if err != nil {
			last = blocked(err)
			continue
		}
		last = plant(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_WRONLY|os.O_TRUNC)
		unix.Close(fd)
		if last.Verdict == "allowed" {
			return last
		}
	}
	return last
}

// await reads a file that the host is about to make.
func await(a []string) verdict {
	last := verdict{}
	for range 60 {
		if last = readSecret(a[0]); last.Verdict == "allowed" {
			return last
		}
		time.Sleep(5 * time.Millisecond)
	}
	return last
}

func plant(path string, how int) verdict {
	f, err := os.OpenFile(path, how, 0o644)
	if err != nil {
		return blocked(err)
	}
	_, werr := f.WriteString(planted + "\n")
	return outcome(errors.Join(werr, f.Close()), "written")
}

// replace does what editors do: a new file, renamed over the old one. Where
// the name cannot be taken over it is removed first.
func replace(a []string) verdict {
	fresh := filepath.Join(filepath.Dir(a[0]), ".fresh")
	if v := plant(fresh, os.O_CREATE|os.O_WRONLY); v.Verdict != "allowed" {
		return v
	}
	err := os.Rename(fresh, a[0])
	if err != nil {
		_ = os.RemoveAll(a[0])
		err = os.Rename(fresh, a[0])
	}
	if err != nil {
		_ = os.Remove(fresh) // no trace of the failed attempt
	}
	return outcome(err, "replaced")
}

// exchange swaps two names in one step, past checks that look at absence.
func exchange(a []string) verdict {
	return outcome(unix.Renameat2(unix.AT_FDCWD, a[0], unix.AT_FDCWD, a[1], unix.RENAME_EXCHANGE), "exchanged")
}

func remove(a []string) verdict {
	if _, err := os.Lstat(a[0]); err != nil {
		return blocked(err)
	}
	return outcome(os.RemoveAll(a[0]), "removed")
}

// list looks for a name in a directory.
func list(a []string) verdict {
	entries, err := os.ReadDir(a[0])
	if err != nil {
		return blocked(err)
	}
	for _, e := range entries {
		if e.Name() == a[1] {
			return allowed("%s is listed", a[1])
		}
	}
	return blockedFor("%d entries, none is %s", len(entries), a[1])
}

// openForWriting opens without truncating and writes nothing: the places it
// is used on steer the whole machine. One that opens is enough.
func openForWriting(paths []string) verdict {
	var last error
	for _, p := range paths {
		matches, err := filepath.Glob(p)
		if err != nil || len(matches) == 0 {
			matches = []string{p}
		}
		for _, m := range matches {
			fd, err := unix.Open(m, unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
			if err == nil {
				unix.Close(fd)
				return allowed("%s opens for writing", m)
			}
			last = moreTelling(last, err)
		}
	}
	return blocked(last)
}

// moreTelling prefers a refusal to an absence.
func moreTelling(a, b error) error {
	if a == nil || errors.Is(a, unix.ENOENT) {
		return b
	}
	return a
}

// makeAndRemove makes a file in each directory in turn and takes it away.
func makeAndRemove(dirs []string) verdict {
	var last error
	for _, dir := range dirs {
		f, err := os.CreateTemp(dir, ".escape-probe-*")
		if err == nil {
			f.Close()
			_ = os.Remove(f.Name())
			return allowed("a file can be made in %s", dir)
		}
		last = moreTelling(last, err)
	}
	return blocked(last)
}
