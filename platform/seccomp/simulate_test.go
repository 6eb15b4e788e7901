package seccomp

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
)

// data is the kernel's struct seccomp_data without the instruction pointer, which
// no program here reads.
type data struct {
	number uint32
	arch   uint32
	args   [6]uint64
}

// machine runs a program without a kernel.
type machine struct {
	t  testing.TB
	vm *bpf.VM
}

func simulate(t testing.TB, p Program) machine {
	t.Helper()
	code := make([]bpf.Instruction, 0, p.Len())
	for _, in := range p.code {
		code = append(code, in.Disassemble())
	}
	vm, err := bpf.NewVM(code)
	require.NoError(t, err)
	return machine{t, vm}
}

// answer runs the program on d. The virtual machine is made for packets and loads
// words in network order, seccomp loads them as the host stores them: each word
// is therefore laid out big endian, at the offset that it has on a little endian
// machine.
func (m machine) answer(d data) Action {
	var b [64]byte
	put := func(offset int, v uint32) { binary.BigEndian.PutUint32(b[offset:], v) }
	put(offsetNumber, d.number)
	put(offsetArch, d.arch)
	for i, v := range d.args {
		put(offsetArgs+i*sizeArg, uint32(v))
		put(offsetArgs+i*sizeArg+4, uint32(v>>32))
	}
	verdict, err := m.vm.Run(b[:])
	require.NoError(m.t, err)
	return Action(verdict)
}

// decide reads the table itself: the meaning that a program must have.
func decide(rules []Rule, arch Arch, d data) (Action, int) {
	if audit, _ := arch.audit(); d.arch != audit {
		return KillProcess, -1
	}
	if d.number > lastReviewed {
		return Errno(enosys), -1
	}
	for i, r := range rules {
		if names(r, arch, d.number) && !slices.ContainsFunc(r.When, func(t Test) bool { return !holds(t, d) }) {
			return r.Action, i
		}
	}
	return Allow, -1
}

func names(r Rule, arch Arch, nr uint32) bool {
	for _, c := range r.Calls {
		if n, ok := c.Number(arch); ok && n == nr {
			return true
		}
	}
	return false
}

func holds(t Test, d data) bool {
	return slices.Contains(t.Values, uint32(d.args[t.Arg])&t.Mask) != t.Not
}

// configs are all that exist for arch.
func configs(arch Arch) []Config {
	var all []Config
	for _, network := range []Network{NetworkOff, NetworkProxy, NetworkOn} {
		for bits := range 8 {
			all = append(all, Config{
				Arch: arch, Network: network,
				UnixSockets: bits&1 != 0, Debug: bits&2 != 0, Namespaced: bits&4 != 0,
			})
		}
	}
	return all
}

func compiled(t testing.TB, c Config) Program {
	t.Helper()
	p, err := Compile(c)
	require.NoError(t, err)
	return p
}
