package seccomp

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exit41 calls exit(41) by its i386 number through int 0x80: mov eax, 1; mov ebx,
// 41; int 0x80; and, should that return, ud2. The bytes mean the same in 32-bit
// and in 64-bit code.
var exit41 = []byte{0xb8, 1, 0, 0, 0, 0xbb, 41, 0, 0, 0, 0xcd, 0x80, 0x0f, 0x0b}

// elf32 is the smallest i386 executable that runs code.
func elf32(code []byte) []byte {
	const header, base = 52 + 32, 0x08048000
	size := uint32(header + len(code))
	b := []byte("\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	half := func(vs ...uint16) {
		for _, v := range vs {
			b = binary.LittleEndian.AppendUint16(b, v)
		}
	}
	word := func(vs ...uint32) {
		for _, v := range vs {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	half(2, 3) // executable, i386
	word(1, base+header, 52, 0, 0)
	half(52, 32, 1, 0, 0, 0)
	word(1, 0, base, base, size, size, 5, 0x1000) // one loaded segment, readable and executable
	return append(b, code...)
}

// elf64 is the same for amd64.
func elf64(code []byte) []byte {
	const header, base = 64 + 56, 0x400000
	size := uint64(header + len(code))
	b := []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	half := func(vs ...uint16) {
		for _, v := range vs {
			b = binary.LittleEndian.AppendUint16(b, v)
		}
	}
	word := func(vs ...uint32) {
		for _, v := range vs {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	long := func(vs ...uint64) {
		for _, v := range vs {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
	}
	half(2, 62) // executable, amd64
	word(1)
	long(base+header, 64, 0)
	word(0)
	half(64, 56, 1, 0, 0, 0)
	word(1, 5)
	long(0, base, base, size, size, 0x1000)
	return append(b, code...)
}

// The i386 entry is shut for i386 programs and for 64-bit ones that jump to it.
func TestForeignEntryKills(t *testing.T) {
	for name, image := range map[string][]byte{"i386 program": elf32(exit41), "int 0x80 from amd64": elf64(exit41)} {
		for who, user := range identities() {
			t.Run(name+"/"+who, func(t *testing.T) {
				dir := scratch(t)
				file := filepath.Join(dir, "program")
				require.NoError(t, os.WriteFile(file, image, 0o755))
				require.NoError(t, os.Chmod(file, 0o755))
				o := order{Command: []string{file}}

				var exit *exec.ExitError
				require.ErrorAs(t, start(t, o, user, dir).Run(), &exit)
				assert.Equal(t, 41, exit.ExitCode(), "without the filter; a kernel without IA32 emulation shows nothing")

				o.Filter = &Config{Arch: AMD64, Network: NetworkOn, UnixSockets: true, Debug: true, Namespaced: true}
				require.True(t, errors.As(start(t, o, user, dir).Run(), &exit))
				status, ok := exit.Sys().(syscall.WaitStatus)
				require.True(t, ok)
				assert.Equal(t, syscall.SIGSYS, status.Signal(), "%v", status)
			})
		}
	}
}
