//go:build linux

package main

import (
	"bytes"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Numbers that the runner's objects have beside their keys.
const (
	semaphoreValue = 42
	ipcNoWait      = 0x800 // IPC_NOWAIT
	semGetValue    = 12    // GETVAL
)

func ipcVerbs() map[string]verb {
	return map[string]verb{
		"shared-memory": {1, sharedMemory},
		"message-queue": {1, messageQueue},
		"semaphore":     {1, semaphore},
		"posix-queue":   {1, posixQueue},
		"key-search":    {2, keySearch},
		"key-request":   {1, keyRequest},
		"key-list":      {1, keyList},
	}
}

func sharedMemory(a []string) verdict {
	id, err := sysResult(unix.SYS_SHMGET, uintptr(number(a[0])), 0, 0)
	if err != nil {
		return blocked(err)
	}
	content, err := unix.SysvShmAttach(int(id), 0, unix.SHM_RDONLY)
	if err != nil {
		return blocked(err)
	}
	defer unix.SysvShmDetach(content)
	if !bytes.Contains(content, []byte(secret)) {
		return blockedFor("a segment without the secret")
	}
	return allowed("the host's segment was read")
}

func messageQueue(a []string) verdict {
	id, err := sysResult(unix.SYS_MSGGET, uintptr(number(a[0])), 0)
	if err != nil {
		return blocked(err)
	}
	var message struct {
		kind int64
		text [256]byte
	}
	n, err := sysResult(unix.SYS_MSGRCV, id, uintptr(unsafe.Pointer(&message)), uintptr(len(message.text)), 0, ipcNoWait)
	if err != nil {
		return blocked(err)
	}
	return findSecret(bytes.NewReader(message.text[:n]))
}

func semaphore(a []string) verdict {
	id, err := sysResult(unix.SYS_SEMGET, uintptr(number(a[0])), 0, 0)
	if err != nil {
		return blocked(err)
	}
	value, err := sysResult(unix.SYS_SEMCTL, id, 0, semGetValue, 0)
	if err != nil {
		return blocked(err)
	}
	if value != semaphoreValue {
		return blockedFor("a semaphore with the value %d", value)
	}
	return allowed("the host's semaphore was read")
}

func posixQueue(a []string) verdict {
	name, err := unix.BytePtrFromString(a[0])
	if err != nil {
		return blocked(err)
	}
	fd, err := sysResult(unix.SYS_MQ_OPEN, pointer(name), unix.O_RDONLY|unix.O_NONBLOCK, 0, 0)
	if err != nil {
		return blocked(err)
	}
	defer unix.Close(int(fd))
	buf := make([]byte, 8192)
	n, err := sysResult(unix.SYS_MQ_TIMEDRECEIVE, fd, pointer(&buf[0]), uintptr(len(buf)), 0, 0)
	if err != nil {
		return blocked(err)
	}
	return findSecret(bytes.NewReader(buf[:n]))
}

// keySearch looks for a key in the session's or the user's keyring.
func keySearch(a []string) verdict {
	ring := unix.KEY_SPEC_SESSION_KEYRING
	if a[0] == "user" {
		ring = unix.KEY_SPEC_USER_KEYRING
	}
	id, err := unix.KeyctlSearch(ring, "user", a[1], 0)
	if err != nil {
		return blocked(err)
	}
	return readKey(id)
}

// keyRequest asks for a key wherever this process may find it. No helper of
// the kernel's is called: that takes a fourth argument.
func keyRequest(a []string) verdict {
	kind, err := unix.BytePtrFromString("user")
	if err != nil {
		return blocked(err)
	}
	name, err := unix.BytePtrFromString(a[0])
	if err != nil {
		return blocked(err)
	}
	id, err := sysResult(unix.SYS_REQUEST_KEY, pointer(kind), pointer(name), 0, 0)
	if err != nil {
		return blocked(err)
	}
	return readKey(int(id))
}

func readKey(id int) verdict {
	buf := make([]byte, 256)
	n, err := unix.KeyctlBuffer(unix.KEYCTL_READ, id, buf, 0)
	if err != nil {
		return blocked(err)
	}
	if !strings.Contains(string(buf[:min(n, len(buf))]), secret) {
		return blockedFor("a key without the secret")
	}
	return allowed("the host's key was read")
}

// keyList looks for the name of a key in the kernel's list.
func keyList(a []string) verdict {
	list, err := os.ReadFile("/proc/keys")
	if err != nil {
		return blocked(err)
	}
	if !bytes.Contains(list, []byte(a[0])) {
		return blockedFor("it is not in the list")
	}
	return allowed("the host's key is in the list")
}
