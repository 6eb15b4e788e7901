package seccomp

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// publishedNumbers reads the numbers that golang.org/x/sys took from the kernel's
// headers. Its constants exist only on the system that they are for; its source
// serves both architectures, and tests on every system.
func publishedNumbers(t *testing.T, arch Arch) map[string]int {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "golang.org/x/sys/unix").Output()
	require.NoError(t, err)
	file := filepath.Join(strings.TrimSpace(string(dir)), "zsysnum_linux_"+arch.String()+".go")
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	numbers := map[string]int{}
	for _, m := range regexp.MustCompile(`SYS_(\w+)\s+= (\d+)`).FindAllStringSubmatch(string(source), -1) {
		n, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		numbers[strings.ToLower(m[1])] = n
	}
	require.Greater(t, len(numbers), 250)
	return numbers
}

func TestNumbersAreTheKernels(t *testing.T) {
	t.Parallel()
	for _, arch := range []Arch{AMD64, ARM64} {
		published := publishedNumbers(t, arch)
		newest := 0
		for _, n := range published {
			newest = max(newest, n)
		}
		assert.Equal(t, lastReviewed, newest,
			"%v has calls newer than the table: weigh each, add rows, then raise lastReviewed", arch)
		for c := range callCount {
			got, ok := c.Number(arch)
			want, exists := published[c.String()]
			assert.Equal(t, exists, ok, "%v on %v", c, arch)
			if exists {
				assert.Equal(t, uint32(want), got, "%v on %v", c, arch)
			}
		}
	}
}

func TestEveryCallHasARow(t *testing.T) {
	t.Parallel()
	for _, arch := range []Arch{AMD64, ARM64} {
		rows := map[Call]bool{}
		for _, r := range Rules(Config{Arch: arch}) {
			for _, c := range r.Calls {
				rows[c] = true
			}
		}
		for c := range callCount {
			assert.True(t, rows[c], "%v is in the number table without a rule", c)
		}
	}
}

func TestCallsOutsideTheTable(t *testing.T) {
	t.Parallel()
	_, ok := callCount.Number(AMD64)
	assert.False(t, ok)
	assert.Equal(t, "unknown", callCount.String())
}
