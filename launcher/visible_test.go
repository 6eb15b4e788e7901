package launcher

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sbx-run/sbx/policy"
)

func TestFindVisible(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file := func(name, content string, mode os.FileMode) {
		p := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte(content), 0o600))
		require.NoError(t, os.Chmod(p, mode))
	}
	file("bin/tool", "\x7fELF", 0o755)
	file("bin/plain", "text", 0o644)
	file("bin/script", "#!"+dir+"/bin/tool -x\n", 0o755)
	file("bin/lost", "#!/no/such/interpreter\n", 0o755)
	file("bin/closed", "#!"+dir+"/hidden/secret\n", 0o755)
	file("bin/su", "\x7fELF", 0o755|os.ModeSetuid)
	file("hidden/secret", "\x7fELF", 0o755)
	file("first/tool", "text", 0o644)
	require.NoError(t, os.Symlink(dir+"/hidden/secret", dir+"/bin/way-out"))
	require.NoError(t, os.Symlink("tool", dir+"/bin/alias"))
	shows := func(p string) bool { return !policy.Contains(dir+"/hidden", p) }

	for _, tc := range []struct {
		name, command, want string
		notFound            bool
		reason              string
	}{
		{"by name", "tool", dir + "/bin/tool", false, ""},
		{"by path", dir + "/bin/tool", dir + "/bin/tool", false, ""},
		{"relative", "./bin/tool", "./bin/tool", false, ""},
		{"a script", "script", dir + "/bin/script", false, ""},
		{"a link inside", "alias", dir + "/bin/alias", false, ""},
		{"absent", "nothing", "", true, ""},
		{"absent path", "/no/such", "", true, ""},
		{"hidden", dir + "/hidden/secret", "", true, ""},
		{"a link to what is hidden", "way-out", "", true, ""},
		{"not executable", "plain", "", false, "permission denied"},
		{"a directory", dir + "/bin", "", false, "directory"},
		{"setuid", "su", "", false, "setuid"},
		{"interpreter absent", "lost", "", false, "/no/such/interpreter"},
		{"interpreter hidden", "closed", "", false, "secret"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := findVisible(tc.command, dir, []string{dir + "/first", dir + "/none", dir + "/bin"}, shows)
			if tc.want != "" {
				require.NoError(t, err)
				assert.Equal(t, tc.want, got)
				return
			}
			var ce *CommandError
			require.ErrorAs(t, err, &ce)
			assert.Equal(t, tc.notFound, ce.NotFound)
			assert.Contains(t, ce.Reason, tc.reason)
		})
	}
}
