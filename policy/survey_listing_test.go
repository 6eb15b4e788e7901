package policy

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestListingTellsEveryProtectedName: a listing may leave out no look that
// would find something, whatever is added to the lists.
func TestListingTellsEveryProtectedName(t *testing.T) {
	t.Parallel()
	var all []string
	for _, list := range [][]protectedName{projectNames, startupNames, {dotGitName}} {
		for _, n := range list {
			all = append(all, n.name)
		}
	}
	for _, name := range all {
		top := topOf(name)
		for _, entry := range []string{top, strings.ToUpper(top), top + "\u200c", "\u200c" + top, strings.Replace(top, "s", "\u017f", 1)} {
			var listed names
			listed.add([]byte(entry), false)
			assert.True(t, listed.may(name), "%q may answer to %s", entry, name)
		}
		var listed names
		for _, entry := range []string{"README", "." + top, top + "x", top[1:], "." + strings.Repeat("x", 255)} {
			listed.add([]byte(entry), false)
		}
		assert.False(t, listed.may(name), "nothing here is %s", name)

		root := tree(t, name+"/f")
		s, err := rootForm(t, root, ReadAndWrite).Expand()
		require.NoError(t, err)
		if name != dotGit { // what is protected of that is inside
			assert.False(t, s.CanWrite("/"+name), name)
		}
	}
}

// TestSurveyLooksAtWhatIsThere counts the looks: their number follows what
// the roots hold, not how many names are protected.
func TestSurveyLooksAtWhatIsThere(t *testing.T) {
	t.Parallel()
	const roots = 20
	for _, tc := range []struct {
		name, file string
		looks      []string // for each root
	}{
		{"nothing", "", nil},
		{"other files", "src/.envrc", nil},
		{"one name", ".envrc", []string{".envrc"}},
		{"a directory above a name", ".config/other/f", []string{".config/fish", ".config/nushell", ".config/powershell"}},
		{"a git directory", ".git/f", []string{".git", ".git/commondir", ".git/config", ".git/config.worktree", ".git/hooks"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			root := tree(t)
			var spec Spec
			want := map[string]int{}
			for i := range roots {
				name := fmt.Sprintf("r%02d", i)
				grow(t, root, name+"/", name+"/"+tc.file)
				spec.Mounts = append(spec.Mounts, mountAt(t, name, root+"/"+name, ReadAndWrite))
				for _, look := range tc.looks {
					want[path.Join(root, name, look)]++
				}
			}
			e := mustNew(t, spec).Effective()
			for _, after := range []bool{false, true} {
				got := map[string]int{}
				s := newSurvey(e)
				s.present = after
				s.lstat = func(p string) (fs.FileInfo, error) {
					got[p]++
					return os.Lstat(p)
				}
				s.search(e)
				assert.Equal(t, want, got)
				assert.Equal(t, after, len(s.open.absent()) == 0, "before a run what can be made matters")
			}
		})
	}
}
