package main_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Operations of System V IPC, from linux/ipc.h and linux/sem.h.
const (
	ipcCreate    = 0o1000 // IPC_CREAT
	ipcExclusive = 0o2000 // IPC_EXCL
	ipcRemove    = 0      // IPC_RMID
	semSet       = 16     // SETVAL
	semValue     = 42     // the probe looks for this one
)

// objects counts what this process has made, for keys of their own.
var objects atomic.Uint32

// object makes an object that lives outside of all file systems, and takes it
// away with the stage.
func (s *stage) object(kind string) error {
	number := uint32(os.Getpid())<<12 + objects.Add(1)&0xfff
	key := uintptr(number&0x3fffffff | 0x40000000)
	switch kind {
	case "shm":
		return s.sharedMemory(key)
	case "msg":
		return s.messageQueue(key)
	case "sem":
		return s.semaphore(key)
	case "mqueue":
		return s.posixQueue(fmt.Sprintf("escape-suite-%d", number))
	case "session-key":
		return s.sessionKey(fmt.Sprintf("escape-suite:%d", number))
	case "user-key":
		return s.userKey(fmt.Sprintf("escape-suite:%d", number))
	}
	return errors.New("no such helper")
}

func call(number uintptr, args ...uintptr) (uintptr, error) {
	var a [6]uintptr
	copy(a[:], args)
	r, _, errno := syscall.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	return r, errnoOrNil(errno)
}

func (s *stage) later(number uintptr, args ...uintptr) {
	s.undo = append(s.undo, func() error {
		_, err := call(number, args...)
		return err
	})
}

func (s *stage) sharedMemory(key uintptr) error {
	id, err := call(unix.SYS_SHMGET, key, 4096, ipcCreate|ipcExclusive|0o600)
	if err != nil {
		return err
	}
	s.later(unix.SYS_SHMCTL, id, ipcRemove, 0)
	s.vars["SHM"] = strconv.Itoa(int(key))
	segment, err := unix.SysvShmAttach(int(id), 0, 0)
	if err != nil {
		return err
	}
	copy(segment, hostSecret)
	return unix.SysvShmDetach(segment)
}

func (s *stage) messageQueue(key uintptr) error {
	id, err := call(unix.SYS_MSGGET, key, ipcCreate|ipcExclusive|0o600)
	if err != nil {
		return err
	}
	s.later(unix.SYS_MSGCTL, id, ipcRemove, 0)
	s.vars["MSG"] = strconv.Itoa(int(key))
	message := struct {
		kind int64
		text [len(hostSecret)]byte
	}{kind: 1}
	copy(message.text[:], hostSecret)
	_, err = call(unix.SYS_MSGSND, id, uintptr(unsafe.Pointer(&message)), uintptr(len(message.text)), 0)
	return err
}

func (s *stage) semaphore(key uintptr) error {
	id, err := call(unix.SYS_SEMGET, key, 1, ipcCreate|ipcExclusive|0o600)
	if err != nil {
		return err
	}
	s.later(unix.SYS_SEMCTL, id, 0, ipcRemove, 0)
	s.vars["SEM"] = strconv.Itoa(int(key))
	_, err = call(unix.SYS_SEMCTL, id, 0, semSet, semValue)
	return err
}

func (s *stage) posixQueue(name string) error {
	text, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	p := uintptr(unsafe.Pointer(text))
	fd, err := call(unix.SYS_MQ_OPEN, p, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600, 0)
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error {
		_, err := call(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(text)))
		return errors.Join(err, unix.Close(int(fd)))
	})
	s.vars["MQ"] = name
	secret := []byte(hostSecret)
	_, err = call(unix.SYS_MQ_TIMEDSEND, fd, uintptr(unsafe.Pointer(&secret[0])), uintptr(len(secret)), 0, 0)
	return err
}

// sessionKey gives this thread a session keyring of its own, as a login does,
// with a key in it. Both go with the thread.
func (s *stage) sessionKey(name string) error {
	// Without a name: one with a name could be joined by others.
	if _, err := call(unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0); err != nil {
		return err
	}
	_, err := unix.AddKey("user", name, []byte(hostSecret), unix.KEY_SPEC_SESSION_KEYRING)
	s.vars["KEY"] = name
	return err
}

// userKey puts a key into the user's keyring, which lasts as long as the user
// has a process.
func (s *stage) userKey(name string) error {
	id, err := unix.AddKey("user", name, []byte(hostSecret), unix.KEY_SPEC_USER_KEYRING)
	if err != nil {
		return err
	}
	s.vars["KEY"] = name
	s.undo = append(s.undo, func() error {
		_, err := unix.KeyctlInt(unix.KEYCTL_UNLINK, id, unix.KEY_SPEC_USER_KEYRING, 0, 0)
		return err
	})
	return nil
}
