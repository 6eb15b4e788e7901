//go:build linux

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// BenchmarkSystemCalls measures a second of cheap system calls inside against
// outside: the cost of the seccomp filter. Budget: 1.03. dd makes one read and
// one write for each byte, the cheapest that there are; a search through a
// tree of files, which also passes Landlock or the mounts, is beside it.
//
// The kernel takes a slower way into every call of a process that has any
// filter at all, so the same is measured against a filter of one instruction
// that allows everything: what is above 1 there is the price of sbx's table.
func BenchmarkSystemCalls(b *testing.B) {
	dir := manyPaths(b)
	for _, row := range []struct {
		name    string
		command []string
	}{
		{"read-write", []string{"/bin/dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1500000", "status=none"}},
		{"find-stat-read", []string{"/bin/sh", "-c", `i=0; while [ $i -lt 12 ]; do find "$0" -type f -size -2 -exec cat {} + > /dev/null; i=$((i+1)); done`, dir}},
	} {
		for _, backend := range []string{"bwrap", "builtin"} {
			b.Run(row.name+"/"+backend, func(b *testing.B) {
				inside := append([]string{binary, "run", "--quiet", "--backend", backend, "--ro", dir, "--"}, row.command...)
				nothing := []string{binary, "run", "--quiet", "--backend", backend, "--ro", dir, "--", "true"}
				for b.Loop() {
					var with, without, start, filtered []time.Duration
					for range 9 {
						without = append(without, timeOf(b, row.command))
						filtered = append(filtered, timeFiltered(b, row.command))
						with = append(with, timeOf(b, inside))
						start = append(start, timeOf(b, nothing))
					}
					b.ReportMetric((median(with)-median(start))/median(without), "x_outside")
					b.ReportMetric((median(with)-median(start))/median(filtered), "x_any_filter")
					b.ReportMetric(median(without)*1e3, "ms_outside")
				}
			})
		}
	}
}

// timeFiltered starts the command from a thread with a filter that allows
// everything. The thread ends with the goroutine, which stays locked to it.
func timeFiltered(b *testing.B, argv []string) time.Duration {
	took := make(chan time.Duration)
	go func() {
		defer close(took)
		runtime.LockOSThread()
		allow := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
		program := unix.SockFprog{Len: 1, Filter: &allow}
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return
		}
		_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
		if errno == 0 {
			took <- timeOf(b, argv)
		}
	}()
	t, ok := <-took
	require.True(b, ok, "no filter")
	return t
}

// BenchmarkMemory measures the most that sbx and bubblewrap's two processes
// have had resident, each at its own peak, added up while a command runs.
// Budget: 16 MiB. Pages of the executables count, although runs share them.
// (The peak that wait4 tells is no use: it counts the caller before the exec.)
func BenchmarkMemory(b *testing.B) {
	for name, args := range map[string][]string{
		"bwrap":   {"run", "--quiet", "--backend", "bwrap", "--", "cat"},
		"json":    {"run", "--quiet", "--json", "--backend", "bwrap", "--", "cat"},
		"builtin": {"run", "--quiet", "--backend", "builtin", "--", "cat"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command(binary, args...)
				stdin, err := cmd.StdinPipe()
				require.NoError(b, err)
				require.NoError(b, cmd.Start())
				total := 0
				for pid := awaitCat(b, cmd.Process.Pid); pid != cmd.Process.Pid; {
					pid = parent(b, pid)
					total += peakMemory(b, pid)
				}
				b.ReportMetric(float64(total)/(1<<20), "MiB_peak")
				require.NoError(b, stdin.Close())
				require.NoError(b, cmd.Wait())
			}
		})
	}
}

// awaitCat returns the command at the end of the line of children of sbx.
func awaitCat(b *testing.B, sbx int) (last int) {
	b.Helper()
	require.Eventually(b, func() bool {
		for last = sbx; child(last) > 0; {
			last = child(last)
		}
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", last))
		return string(name) == "cat\n"
	}, 20*time.Second, 5*time.Millisecond)
	return last
}

func parent(b *testing.B, pid int) (ppid int) {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	_, rest, _ := strings.Cut(string(status), "PPid:")
	_, err = fmt.Sscan(rest, &ppid)
	require.NoError(b, err)
	return ppid
}

// BenchmarkLaunches measures 200 launches, two at a time, against as many of
// bare bubblewrap with the same mounts. Budget: 0.7 of its launches per second.
func BenchmarkLaunches(b *testing.B) {
	bare := bareBwrap(b)
	for name, argv := range map[string][]string{
		"plain":   {binary, "run", "--quiet", "--", "true"},
		"json":    {binary, "run", "--quiet", "--json", "--", "true"},
		"builtin": {binary, "run", "--quiet", "--backend", "builtin", "--", "true"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				with, without := twoAtATime(b, argv), twoAtATime(b, bare)
				b.ReportMetric(without.Seconds()/with.Seconds(), "x_bwrap")
				b.ReportMetric(200/with.Seconds(), "launches/s")
			}
		})
	}
}

// twoAtATime is how long 200 launches take.
func twoAtATime(b *testing.B, argv []string) time.Duration {
	b.Helper()
	turns := make(chan int)
	failed := make(chan error, 200)
	var both sync.WaitGroup
	begun := time.Now()
	for range 2 {
		both.Go(func() {
			for range turns {
				if err := exec.Command(argv[0], argv[1:]...).Run(); err != nil {
					failed <- err
				}
			}
		})
	}
	for i := range 200 {
		turns <- i
	}
	close(turns)
	both.Wait()
	took := time.Since(begun)
	require.Empty(b, failed, "launches that failed")
	return took
}
