package stub

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/sbx-run/sbx/platform/script"
	"github.com/sbx-run/sbx/platform/seccomp"
)

func spec(t *testing.T, argv ...string) Spec {
	arch, err := seccomp.Host()
	require.NoError(t, err)
	return Spec{Dir: "/", Argv: argv, Env: []string{"A=1"}, Path: []string{"/usr/bin", "/bin"}, Filter: seccomp.Config{Arch: arch}}
}

// enter runs the test program as the stub with these orders and returns what it
// printed and what Await says.
func enter(t *testing.T, spec Spec) (string, error) {
	orders, err := Compile(spec)
	require.NoError(t, err)
	ours, cmd := start(t)
	defer ours.Close()
	_, err = ours.Write(orders.Image())
	require.NoError(t, err)
	require.NoError(t, LetGo(ours))
	said := orders.Await(ours)
	_ = cmd.Wait() // the status is the command's
	return cmd.Stdout.(*bytes.Buffer).String(), said
}

// start starts the test program as the stub, and returns when it has said hello.
func start(t *testing.T) (ours *os.File, cmd *exec.Cmd) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	var out bytes.Buffer
	cmd = exec.Command("/proc/self/exe", Arg)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = &out, &out, []*os.File{theirs}
	require.NoError(t, cmd.Start())
	require.NoError(t, theirs.Close())
	first := make([]byte, 1)
	_, err = io.ReadFull(ours, first)
	require.NoError(t, err)
	require.Equal(t, byte(hello), first[0])
	return ours, cmd
}

func TestCommandRuns(t *testing.T) {
	out, err := enter(t, spec(t, "sh", "-c", `echo "$A-$0-$1"; pwd; ls /proc/self/fd | wc -l; ulimit -c`, "zero", "\x80 b"))
	require.NoError(t, err)
	// Descriptors 0 to 2 and the listing's own.
	assert.Equal(t, "1-zero-\x80 b\n/\n4\n"+ulimitCore(t), out)

	limited := spec(t, "sh", "-c", "ulimit -n; ulimit -Hn")
	limited.Limits = []Rlimit{{Resource: unix.RLIMIT_NOFILE, Value: 7, Margin: 2}}
	out, err = enter(t, limited)
	require.NoError(t, err)
	assert.Equal(t, "7\n9\n", out)
}

// ulimitCore is the control: without an order the limit stays as it is.
func ulimitCore(t *testing.T) string {
	out, err := exec.Command("sh", "-c", "ulimit -c").Output()
	require.NoError(t, err)
	return string(out)
}

func TestFailuresAreWorded(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "not-a-program")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broken"), []byte("#!/no/such/interpreter\n"), 0o700))
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "link")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	for _, row := range []struct {
		name   string
		change func(*Spec)
		want   Failure
	}{
		{"working directory", func(s *Spec) { s.Dir = "/no/such" }, Failure{StageChdir, "/no/such", int(unix.ENOENT), "no such file or directory"}},
		{"not found", func(s *Spec) { s.Argv[0] = "no-such" }, Failure{StageLookup, "no-such", int(unix.ENOENT), "command not found"}},
		{"not executable", func(s *Spec) { s.Argv[0], s.Path = "not-a-program", []string{"/no/such", dir, "/bin"} }, Failure{StageLookup, file, int(unix.EACCES), "permission denied"}},
		{"a directory", func(s *Spec) { s.Argv[0], s.Path = "sub", []string{dir} }, Failure{StageLookup, dir + "/sub", int(unix.EISDIR), "is a directory"}},
		{"by path", func(s *Spec) { s.Argv[0] = file }, Failure{StageLookup, file, int(unix.EACCES), "permission denied"}},
		{"no interpreter", func(s *Spec) { s.Argv[0], s.Path = "broken", []string{dir} }, Failure{StageExec, dir + "/broken", int(unix.ENOENT), "no such file or directory"}},
		{"nothing mounted", func(s *Spec) { s.Mounts = []Check{{Path: dir, Want: HostRW}} }, Failure{StageVerify, dir, 0, "nothing is mounted here"}},
		{"a link on the way", func(s *Spec) { s.Mounts = []Check{{Path: dir + "/link/sub", Want: HostRW}} }, Failure{StageVerify, dir + "/link/sub", int(unix.ELOOP), "too many levels of symbolic links"}},
		{"another file", func(s *Spec) { s.Mounts = []Check{{Path: "/proc", Want: HostRW}} }, Failure{StageVerify, "/proc", 0, "another file than the one that was opened for it"}},
		{"writable", func(s *Spec) { s.Mounts = []Check{{Path: "/proc", Want: HostRO}} }, Failure{StageVerify, "/proc", 0, "it is mounted writable, against the plan"}},
		{"not a mask", func(s *Spec) { s.Mounts = []Check{{Path: "/proc", Want: EmptyDir}} }, Failure{StageVerify, "/proc", 0, "the mask is not an empty file system"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := spec(t, "true")
			_, err := enter(t, s)
			require.NoError(t, err, "control")
			row.change(&s)
			_, err = enter(t, s)
			var got *Failure
			require.ErrorAs(t, err, &got)
			assert.Equal(t, row.want, *got)
		})
	}
}

// TestMountAsPlanned: what is there passes, also where a filter refuses openat2
// and the way is looked up name by name.
func TestMountAsPlanned(t *testing.T) {
	var sx unix.Statx_t
	require.NoError(t, unix.Statx(unix.AT_FDCWD, "/proc", 0, unix.STATX_BASIC_STATS, &sx))
	s := spec(t, "echo", "seen")
	s.Mounts = []Check{{Path: "/proc", Want: HostRW, Dev: unix.Mkdev(sx.Dev_major, sx.Dev_minor), Ino: sx.Ino}, {Path: "/proc", Want: OwnRW}}
	out, err := enter(t, s)
	require.NoError(t, err)
	assert.Equal(t, "seen\n", out)
	s.Mounts[0].Ino++
	_, err = enter(t, s)
	require.Error(t, err)
}

// TestLauncherGone: a stub that nobody lets go becomes nothing, wherever it
// waits.
func TestLauncherGone(t *testing.T) {
	for _, held := range []bool{false, true} {
		s := spec(t, "touch", filepath.Join(t.TempDir(), "ran"))
		s.Held = held
		for _, gone := range []bool{false, true} {
			orders, err := Compile(s)
			require.NoError(t, err)
			ours, cmd := start(t)
			_, err = ours.Write(orders.Image())
			require.NoError(t, err)
			if !gone {
				require.NoError(t, LetGo(ours))
			}
			require.NoError(t, unix.Shutdown(int(ours.Fd()), unix.SHUT_WR))
			_ = cmd.Wait()
			require.NoError(t, ours.Close())
			if gone {
				assert.NoFileExists(t, s.Argv[1])
				continue
			}
			require.FileExists(t, s.Argv[1], "control")
			require.NoError(t, os.Remove(s.Argv[1]))
		}
	}
}

// TestDeadStub: an end before the stub was ready is no start of a command.
func TestDeadStub(t *testing.T) {
	orders := Orders{script.New()}
	for said, want := range map[string]error{"": ErrGone, "r": nil, "f": ErrGone, "rf123": ErrGone} {
		assert.Equal(t, want, orders.Await(strings.NewReader(said)), said)
	}
	var failure record
	failure.kind = failed
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&failure)), unsafe.Sizeof(failure))
	var typed *Failure
	require.True(t, errors.As(orders.Await(bytes.NewReader(raw)), &typed))
}

// TestCutTexts: a NUL would end a text early, and the command would be another.
func TestCutTexts(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"argument":  func(s *Spec) { s.Argv = append(s.Argv, "safe\x00.txt") },
		"variable":  func(s *Spec) { s.Env = append(s.Env, "V=a\x00b") },
		"directory": func(s *Spec) { s.Dir = "/\x00" },
		"path":      func(s *Spec) { s.Path = []string{"/bin\x00"} },
		"mount":     func(s *Spec) { s.Mounts = []Check{{Path: "/a\x00"}} },
	} {
		s := spec(t, "true")
		_, err := Compile(s)
		require.NoError(t, err, "control")
		change(&s)
		_, err = Compile(s)
		var typed *Failure
		require.ErrorAs(t, err, &typed, name)
		assert.Equal(t, int(unix.EINVAL), typed.Errno)
	}
}

func TestCompileRefuses(t *testing.T) {
	s := spec(t, "true")
	s.Filter.Arch = 99
	_, err := Compile(s)
	var typed *Failure
	require.ErrorAs(t, err, &typed)
	assert.Equal(t, StageSeccomp, typed.Stage)
}
