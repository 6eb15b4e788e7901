package seccomp

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corners are argument values at which tests of the table change their mind, and
// the same with a bit in the upper half, which no test may see.
func corners(rules []Rule) []uint64 {
	low := []uint32{0, 1, 0xffffffff, 0x80000000}
	for _, r := range rules {
		for _, t := range r.When {
			low = append(low, t.Mask, ^t.Mask)
			for _, v := range t.Values {
				low = append(low, v, v+1, v-1, v|0x800)
			}
		}
	}
	seen := map[uint32]bool{}
	var all []uint64
	for _, v := range low {
		if !seen[v] {
			seen[v] = true
			all = append(all, uint64(v), uint64(v)|1<<32)
		}
	}
	return all
}

// The program and the table agree on every number, and on random combinations of
// corner values for the calls that have rows.
func TestProgramMeansTheTable(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, arch := range []Arch{AMD64, ARM64} {
		audit, _ := arch.audit()
		for _, c := range configs(arch) {
			rules := Rules(c)
			values := corners(rules)
			m := simulate(t, compiled(t, c))
			try := func(d data) {
				want, _ := decide(rules, arch, d)
				if got := m.answer(d); got != want {
					require.Failf(t, "differs", "%+v %+v: program %v, table %v", c, d, got, want)
				}
			}
			for nr := range uint32(lastReviewed + 20) {
				try(data{number: nr, arch: audit})
			}
			for _, r := range rules {
				for _, call := range r.Calls {
					nr, ok := call.Number(arch)
					if !ok {
						continue
					}
					for range 10 {
						d := data{number: nr, arch: audit}
						for i := range d.args {
							d.args[i] = values[random.IntN(len(values))]
						}
						for _, test := range r.When {
							if random.IntN(3) > 0 && len(test.Values) > 0 {
								d.args[test.Arg] = uint64(test.Values[random.IntN(len(test.Values))])
							}
						}
						try(d)
					}
				}
			}
		}
	}
}

func FuzzProgramMeansTheTable(f *testing.F) {
	f.Add(uint8(0), uint32(41), uint32(auditAMD64), uint64(2), uint64(10), uint64(0), uint64(0))
	f.Add(uint8(9), uint32(56), uint32(auditARM64), uint64(0), uint64(0), uint64(0o100), uint64(0o4755))
	f.Add(uint8(3), uint32(16), uint32(auditAMD64), uint64(0), uint64(tiocsti|1<<32), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, which uint8, nr, audit uint32, a0, a1, a2, a3 uint64) {
		for _, arch := range []Arch{AMD64, ARM64} {
			all := configs(arch)
			c := all[int(which)%len(all)]
			d := data{number: nr, arch: audit, args: [6]uint64{a0, a1, a2, a3}}
			want, _ := decide(Rules(c), arch, d)
			assert.Equal(t, want, simulate(t, compiled(t, c)).answer(d), "%+v %+v", c, d)
		}
	})
}

func TestForeignArchitecturesAreKilled(t *testing.T) {
	t.Parallel()
	for name, audit := range map[string]uint32{
		"i386": 0x40000003, "32-bit ARM": 0x40000028, "amd64": auditAMD64, "arm64": auditARM64,
		"riscv64": 0xc00000f3, "none": 0,
	} {
		for _, arch := range []Arch{AMD64, ARM64} {
			m := simulate(t, compiled(t, Config{Arch: arch}))
			want := KillProcess
			if own, _ := arch.audit(); own == audit {
				want = Allow
			}
			// Number 0 is read on amd64 and io_setup on arm64, both harmless.
			assert.Equal(t, want, m.answer(data{arch: audit}), "%s under a program for %v", name, arch)
		}
	}
}

func TestNumbersBeyondTheTable(t *testing.T) {
	t.Parallel()
	const x32 = 0x40000000
	for _, arch := range []Arch{AMD64, ARM64} {
		audit, _ := arch.audit()
		m := simulate(t, compiled(t, Config{Arch: arch, Network: NetworkOn, UnixSockets: true, Debug: true, Namespaced: true}))
		for nr, want := range map[uint32]Action{
			lastReviewed:     Allow,
			lastReviewed + 1: Errno(enosys),
			x32:              Errno(enosys),
			x32 + 41:         Errno(enosys), // socket
			x32 + 520:        Errno(enosys), // execve of x32
			0x7fffffff:       Errno(enosys),
			0xffffffff:       Errno(enosys),
		} {
			assert.Equal(t, want, m.answer(data{number: nr, arch: audit}), "%v %#x", arch, nr)
		}
	}
}

// looser lists the configs that have one field of c relaxed by one step.
func looser(c Config) []Config {
	var all []Config
	add := func(relax func(*Config)) {
		next := c
		relax(&next)
		if next != c {
			all = append(all, next)
		}
	}
	add(func(c *Config) { c.Network = min(c.Network+1, NetworkOn) })
	add(func(c *Config) { c.UnixSockets = true })
	add(func(c *Config) { c.Debug = true })
	add(func(c *Config) { c.Namespaced = true })
	return all
}

func TestFieldsOnlyRelax(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	audit, _ := AMD64.audit()
	for _, c := range configs(AMD64) {
		strict := Rules(c)
		values := corners(strict)
		for _, next := range looser(c) {
			loose := Rules(next)
			for call := range callCount {
				nr, _ := call.Number(AMD64)
				for range 4 {
					d := data{number: nr, arch: audit}
					for i := range d.args {
						d.args[i] = values[random.IntN(len(values))]
					}
					before, _ := decide(strict, AMD64, d)
					after, _ := decide(loose, AMD64, d)
					if before == Allow {
						require.Equal(t, Allow, after, "%+v refuses %v %+v, %+v does not", next, call, d, c)
					}
				}
			}
		}
	}
}

func TestCompileRefusesNonsense(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config Config
		text   string
	}{
		"no architecture":      {Config{}, "system call filter: no such architecture: Arch(0)"},
		"unknown architecture": {Config{Arch: 9}, "system call filter: no such architecture: Arch(9)"},
		"unknown network":      {Config{Arch: AMD64, Network: 7}, "system call filter: no such network mode: Network(7)"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Compile(c.config)
			var typed ConfigError
			require.ErrorAs(t, err, &typed)
			assert.EqualError(t, err, c.text)
			assert.Zero(t, p.Len())
		})
	}
}

func TestTableFitsTheSet(t *testing.T) {
	t.Parallel()
	for _, c := range configs(AMD64) {
		assert.LessOrEqual(t, len(Rules(c)), maxRows)
	}
}

func TestBytesAreSockFilters(t *testing.T) {
	t.Parallel()
	p := compiled(t, Config{Arch: AMD64})
	b := p.Bytes()
	require.Len(t, b, 8*p.Len())
	// BPF_LD|BPF_W|BPF_ABS of offset 4, then BPF_JMP|BPF_JEQ|BPF_K with the value.
	assert.Equal(t, []byte{0x20, 0, 0, 0, 4, 0, 0, 0}, b[:8])
	assert.Equal(t, uint16(0x15), binary.LittleEndian.Uint16(b[8:]))
	assert.Equal(t, uint32(auditAMD64), binary.LittleEndian.Uint32(b[12:]))
}

func TestPrograms4096Limit(t *testing.T) {
	t.Parallel()
	for _, arch := range []Arch{AMD64, ARM64} {
		for _, c := range configs(arch) {
			assert.Less(t, compiled(t, c).Len(), 256, "%+v: a longer program should be explained", c)
		}
	}
}

// Jumps longer than a byte can say need stand-ins; the table is too small to
// show them.
func TestAssemblerReachesFar(t *testing.T) {
	t.Parallel()
	a := assembler{}
	yes := a.ret(Errno(eperm))
	no := a.ret(Allow)
	body := a.branch(0, 41, yes, no)
	a.load(offsetNumber)
	for range 300 {
		a.load(offsetNumber)
	}
	a.branch(0, 7, label(body), yes)
	a.load(offsetNumber)
	code, err := a.finish()
	require.NoError(t, err)
	m := simulate(t, Program{code: code})
	for nr, want := range map[uint32]Action{7: Allow, 41: Errno(eperm), 8: Errno(eperm)} {
		assert.Equal(t, want, m.answer(data{number: nr}), fmt.Sprint(nr))
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(Config{Arch: AMD64, Network: NetworkOn}); err != nil {
			b.Fatal(err)
		}
	}
}
