//go:build linux

package main

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
)

// workVerbs are no attacks: what must go on working inside.
func workVerbs() map[string]verb {
	return map[string]verb{
		"workspace": {1, workspace},
		"loopback":  {0, loopback},
		"nothing":   {0, func([]string) verdict { return allowed("done") }},
	}
}

// workspace does in a directory what a build does: write, read, rename, link,
// run, remove.
func workspace(a []string) verdict {
	dir := filepath.Join(a[0], "build")
	file, moved, tool := filepath.Join(dir, "file"), filepath.Join(dir, "moved"), filepath.Join(dir, "tool")
	err := errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(file, []byte(secret), 0o644),
		os.Rename(file, moved),
		os.Symlink("moved", file),
		os.Link(moved, filepath.Join(dir, "hard")),
		copyFile("/proc/self/exe", tool),
	)
	if err != nil {
		return blocked(err)
	}
	if v := readSecret(file); v.Verdict != "allowed" {
		return v
	}
	if err := exec.Command(tool, "fine").Run(); err != nil {
		return blocked(err)
	}
	return outcome(os.RemoveAll(dir), "written, read, renamed, linked, run, removed")
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// loopback serves and calls itself, as servers under test do.
func loopback([]string) verdict {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return blocked(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = c.Write([]byte(secret))
			c.Close()
		}
	}()
	return callTCP(l.Addr().String())
}
