package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCheckAgreesWithTheKernel generates policies on a tree with links and
// nested places, asks "sbx check" about every path of it, and lets a probe
// inside "sbx run" try the same accesses. Both must say the same.
func TestCheckAgreesWithTheKernel(t *testing.T) {
	const policies = 40
	rng := rand.New(rand.NewPCG(20, 26))
	w := newWorld(t)
	tree := newTree(w, rng)
	counts := map[string]int{}
	for tried := 0; tried < policies; {
		args := tree.policy(rng)
		reads, ok := tree.check("read", args)
		if !ok {
			continue // the derivation asked for more than the grants give
		}
		tried++
		writes, _ := tree.check("write", args)
		said := map[string]map[string]bool{"read": reads, "write": writes}
		found := tree.probe(args)
		for _, p := range tree.paths {
			for _, op := range []string{"read", "write"} {
				counts[fmt.Sprint(op, said[op][p])]++
				assert.Equal(t, said[op][p], found[op+" "+p], "%s %s: check says %v; policy %s", op, p, said[op][p], strings.Join(args, " "))
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d policies, %d paths: %v", policies, len(tree.paths), counts)
	for _, outcome := range []string{"readtrue", "readfalse", "writetrue", "writefalse"} {
		assert.Greater(t, counts[outcome], policies, "the policies are one-sided")
	}
}

// tree is a generated tree. Every directory holds a file called marker, every
// file its own path as content.
type tree struct {
	w     *world
	dirs  []string // absolute, in creation order
	paths []string // everything to ask about, links included
}

func newTree(w *world, rng *rand.Rand) *tree {
	tr := &tree{w: w}
	for _, top := range []string{"a", "b", "c"} {
		tr.grow(filepath.Join(w.cwd, top), 3, rng)
	}
	for i := range 6 {
		link := filepath.Join(pick(rng, tr.dirs), fmt.Sprintf("link%d", i))
		require.NoError(w.t, os.Symlink(pick(rng, tr.paths), link))
		tr.paths = append(tr.paths, link)
	}
	tr.paths = append(tr.paths, w.cwd, "/etc/shadow", "/usr", "/etc/passwd", "/tmp", w.home)
	return tr
}

func (tr *tree) grow(dir string, depth int, rng *rand.Rand) {
	tr.file(filepath.Join(dir, "marker"))
	tr.dirs, tr.paths = append(tr.dirs, dir), append(tr.paths, dir)
	tr.file(filepath.Join(dir, pick(rng, []string{"x.md", "key.pem", ".env"})))
	if depth == 0 {
		return
	}
	for i := range 1 + rng.IntN(2) {
		tr.grow(filepath.Join(dir, fmt.Sprintf("d%d", i)), depth-1, rng)
	}
}

func (tr *tree) file(p string) {
	require.NoError(tr.w.t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(tr.w.t, os.WriteFile(p, []byte(p+"\n"), 0o644))
	tr.paths = append(tr.paths, p)
}

func pick(rng *rand.Rand, items []string) string { return items[rng.IntN(len(items))] }

// policy returns flags: some grants, some denies, sometimes a derivation.
func (tr *tree) policy(rng *rand.Rand) []string {
	var args, tops []string
	for _, top := range []string{"a", "b", "c"} {
		if rng.IntN(4) > 0 {
			args = append(args, pick(rng, []string{"--ro", "--rw"}), filepath.Join(tr.w.cwd, top))
			tops = append(tops, top)
		}
	}
	for range rng.IntN(3) {
		dir := pick(rng, tr.dirs)
		if !slices.Contains(args, dir) {
			args = append(args, pick(rng, []string{"--ro", "--rw"}), dir)
		}
	}
	for range rng.IntN(3) {
		args = append(args, "--deny", pick(rng, append([]string{"*.pem", ".env", "./a/**/x.md"}, tr.paths[:20]...)))
	}
	if len(tops) == 0 {
		return args
	}
	switch rng.IntN(5) {
	case 0:
		args = append(args, "--readonly")
	case 1:
		args = append(args, "--allow-read", pick(rng, tops))
	case 2: // where the second is writable, it becomes a drop box
		if dir := pick(rng, tops); slices.Contains(args, "--rw") && argBefore(args, filepath.Join(tr.w.cwd, dir)) == "--rw" {
			args = append(args, "--allow-read", pick(rng, tops), "--allow-write", dir)
		}
	}
	return args
}

func argBefore(args []string, value string) string {
	if i := slices.Index(args, value); i > 0 {
		return args[i-1]
	}
	return ""
}

// check asks sbx about every path at once. It is not ok for a policy that is
// an escalation.
func (tr *tree) check(op string, flags []string) (said map[string]bool, ok bool) {
	tr.w.t.Helper()
	got := tr.w.sbx(slices.Concat([]string{"check", op, "--json"}, flags, []string{"--"}, tr.paths)...)
	if got.code == 2 && strings.Contains(got.stdout, "permission_escalation") {
		return nil, false
	}
	require.NotEqual(tr.w.t, 2, got.code, "%s%s", got.stdout, got.stderr)
	var verdicts []struct {
		Path    string
		Allowed bool
	}
	require.NoError(tr.w.t, json.Unmarshal([]byte(got.stdout), &verdicts))
	said = map[string]bool{}
	for _, v := range verdicts {
		said[v.Path] = v.Allowed
	}
	return said, true
}

// probeScript tries to read each path of its input and prints those that gave
// what the host has there; then it tries to write to each.
const probeScript = `
while IFS= read -r p; do
	if [ -d "$p" ]; then
		ls "$p" 2>/dev/null | grep -qxE 'marker|bin' && echo "$p"
	else
		cat "$p" 2>/dev/null | grep -q . && echo "$p"
	fi
done < list
n=0
while IFS= read -r p; do
	if [ -d "$p" ]; then ( : > "$p/new.$n" ) 2>/dev/null; else ( echo "new.$n" >> "$p" ) 2>/dev/null; fi
	n=$((n+1))
done < list
exit 0`

// probe runs the script inside. What could be read it says itself; what was
// written is looked up on the host, where alone it counts, and undone.
func (tr *tree) probe(flags []string) map[string]bool {
	tr.w.t.Helper()
	listing := tr.w.write("list/list", strings.Join(tr.paths, "\n")+"\n")
	script := "cd " + filepath.Dir(listing) + "\n" + probeScript
	got := tr.w.sbx(slices.Concat([]string{"run", "--quiet", "--ro", filepath.Dir(listing)}, flags, []string{"-c", script})...)
	require.Zero(tr.w.t, got.code, got.stderr)
	found := map[string]bool{}
	for line := range strings.SplitSeq(strings.TrimSpace(got.stdout), "\n") {
		found["read "+line] = true
	}
	for i, p := range tr.paths {
		if tr.written(p, fmt.Sprintf("new.%d", i)) {
			found["write "+p] = true
		}
	}
	for _, p := range tr.paths {
		tr.restore(p)
	}
	return found
}

// written reports whether the host shows the probe's write by the name p. The
// token tells it from a write to the same file by another name.
func (tr *tree) written(p, token string) bool {
	info, err := os.Stat(p)
	if err != nil || !strings.HasPrefix(p, tr.w.dir) {
		return false
	}
	if info.IsDir() {
		_, err := os.Lstat(filepath.Join(p, token))
		return err == nil
	}
	content, err := os.ReadFile(p)
	require.NoError(tr.w.t, err)
	return strings.Contains(string(content), "\n"+token+"\n")
}

func (tr *tree) restore(p string) {
	info, err := os.Lstat(p)
	if err != nil || !strings.HasPrefix(p, tr.w.dir) {
		return
	}
	switch {
	case info.IsDir():
		made, _ := filepath.Glob(filepath.Join(p, "new.*"))
		for _, f := range made {
			_ = os.Remove(f)
		}
	case info.Mode().IsRegular():
		require.NoError(tr.w.t, os.WriteFile(p, []byte(p+"\n"), 0o644))
	}
}
