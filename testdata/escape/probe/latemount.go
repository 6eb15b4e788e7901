//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Names in the directory that the host mounts something below.
const (
	lateSign  = "sign"  // made in the new mount: it has come
	lateReady = "ready" // made by the probe in its workspace: mount now
)

// lateMount waits for a mount that the host makes below a directory, and
// writes into it. late-mount DIRECTORY; the working directory is writable.
func lateMount(a []string) verdict {
	if v := plant(lateReady, os.O_CREATE|os.O_WRONLY); v.Verdict != "allowed" {
		return v
	}
	for range 100 {
		if _, err := os.Stat(filepath.Join(a[0], lateSign)); err == nil {
			return plant(filepath.Join(a[0], "planted"), os.O_CREATE|os.O_WRONLY)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return blockedFor("the new mount does not show")
}

// hostLateMount runs a command in mounts of its own in which changes spread
// as on a systemd host, and mounts a tmpfs once the command says that it is
// ready. The directory above is one of those mounts, so nothing is made on the
// host. host-late-mount DIRECTORY WORKSPACE COMMAND...
func hostLateMount(a []string) {
	err := errors.Join(
		unix.Unshare(unix.CLONE_NEWNS),
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("tmpfs", filepath.Dir(a[0]), "tmpfs", 0, "mode=0755,size=64k"),
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""),
	)
	if err == nil {
		err = os.Mkdir(a[0], 0o755)
	}
	if err != nil {
		report(notApplicable("no mounts of its own: %v", err))
		return
	}
	cmd := exec.Command(a[2], a[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		report(notApplicable("%v", err))
		return
	}
	for range 400 {
		if _, err := os.Stat(filepath.Join(a[1], lateReady)); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := unix.Mount("tmpfs", a[0], "tmpfs", 0, "mode=0777,size=64k"); err != nil {
		fmt.Fprintln(os.Stderr, "probe: mount:", err)
	}
	if f, err := os.Create(filepath.Join(a[0], lateSign)); err == nil {
		f.Close()
	}
	_ = cmd.Wait()
	os.Exit(cmd.ProcessState.ExitCode())
}

// number reads a number that the runner or the kernel has written.
func number(s string) uint32 {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		fmt.Fprintf(os.Stderr, "probe: %q is not a number\n", s)
		os.Exit(2)
	}
	return uint32(n)
}
