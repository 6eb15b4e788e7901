//go:build linux

package main

import (
	"encoding/binary"
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func ringVerbs() map[string]verb {
	return map[string]verb{
		"ring-setup": {0, ringSetup},
		"ring-call":  {1, ringCall},
	}
}

// Constants of linux/io_uring.h. The numbers of the calls are the same on all
// architectures.
const (
	sysRingSetup = 425
	sysRingEnter = 426

	ringSubmissions = 0x0        // IORING_OFF_SQ_RING
	ringCompletions = 0x8000000  // IORING_OFF_CQ_RING
	ringEntries     = 0x10000000 // IORING_OFF_SQES
	ringWait        = 1          // IORING_ENTER_GETEVENTS
	ringOpSocket    = 45         // IORING_OP_SOCKET, Linux 5.19
	entrySize       = 64
	ringMemory      = 4096
)

// ringParams is struct io_uring_params.
type ringParams struct {
	sqEntries, cqEntries, flags, threadCPU, threadIdle, features, wqFD uint32
	_                                                                  [3]uint32
	sq                                                                 struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

func openRing() (fd int, p ringParams, err error) {
	r, err := sysResult(sysRingSetup, 1, uintptr(unsafe.Pointer(&p)))
	return int(r), p, err
}

func ringSetup([]string) verdict {
	fd, _, err := openRing()
	if err != nil {
		return blocked(err)
	}
	unix.Close(fd)
	return allowed("a ring was made")
}

// ringCall lets the kernel make a socket that no filter of socket(2) has
// seen, and calls a socket of the host with it.
func ringCall(a []string) verdict {
	ring, p, err := openRing()
	if err != nil {
		return blocked(err)
	}
	defer unix.Close(ring)
	fd, err := ringSocket(ring, p)
	if err != nil {
		return blocked(err)
	}
	f := os.NewFile(uintptr(fd), "by ring")
	defer f.Close()
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: a[0]}); err != nil {
		return blocked(err)
	}
	return askSocket(fd)
}

func ringSocket(ring int, p ringParams) (int, error) {
	protection := unix.PROT_READ | unix.PROT_WRITE
	sq, err1 := unix.Mmap(ring, ringSubmissions, ringMemory, protection, unix.MAP_SHARED|unix.MAP_POPULATE)
	cq, err2 := unix.Mmap(ring, ringCompletions, ringMemory, protection, unix.MAP_SHARED|unix.MAP_POPULATE)
	entries, err3 := unix.Mmap(ring, ringEntries, entrySize, protection, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err := errors.Join(err1, err2, err3); err != nil {
		return 0, err
	}
	order := binary.NativeEndian
	entries[0] = ringOpSocket
	order.PutUint32(entries[4:], unix.AF_UNIX)     // descriptor: the family
	order.PutUint64(entries[8:], unix.SOCK_STREAM) // offset: the type
	order.PutUint32(sq[p.sq.array:], 0)            // entry 0 comes first
	order.PutUint32(sq[p.sq.tail:], 1)             // and is there
	if _, err := sysResult(sysRingEnter, uintptr(ring), 1, 1, ringWait, 0, 0); err != nil {
		return 0, err
	}
	const result = 8 // of struct io_uring_cqe
	res := int32(order.Uint32(cq[p.cq.cqes+result:]))
	if res < 0 {
		return 0, unix.Errno(-res)
	}
	return int(res), nil
}
