package seccomp

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// programs are ordinary commands and what they print. Each starts processes or
// threads, or uses a call next to one that is refused.
var programs = []struct {
	name string
	argv []string
	want string
}{
	{
		name: "bash",
		argv: []string{"bash", "-c", `set -eu; mkdir -p a/b; printf x > a/b/f; chmod 755 a/b/f
			(sleep 0 & wait); cat <(cat a/b/f) <<< y; ulimit -n > /dev/null; nice -n 1 true; mkfifo p; ln a/b/f g; mv g h; echo $((6*7))`},
		want: "x42\n",
	},
	{
		name: "make",
		argv: []string{"bash", "-c", `printf 'all: a b\na b:\n\t@echo $@ > $@.out\n' > Makefile; make -s -j2 && cat a.out b.out`},
		want: "a\nb\n",
	},
	{
		name: "python3",
		argv: []string{"python3", "-c", `
import asyncio, os, socket, subprocess, tempfile, threading, multiprocessing
def double(x): return 2 * x
a, b = socket.socketpair(); a.send(b"hi"); assert b.recv(2) == b"hi"
t = threading.Thread(target=lambda: None); t.start(); t.join()
with tempfile.TemporaryDirectory() as d:
    p = os.path.join(d, "f"); open(p, "w").write("x"); os.chmod(p, 0o755); os.rename(p, p + "2")
async def main():
    p = await asyncio.create_subprocess_exec("echo", "sub", stdout=subprocess.PIPE)
    return (await p.communicate())[0].decode().strip()
with multiprocessing.Pool(2) as pool: n = sum(pool.map(double, range(4)))
print(subprocess.check_output(["echo", "out"], text=True).strip(), asyncio.run(main()), n)`},
		want: "out sub 12\n",
	},
	{
		name: "node",
		argv: []string{"node", "-e", `
const fs = require("fs"), cp = require("child_process"), { Worker } = require("worker_threads");
fs.mkdirSync("d"); fs.writeFileSync("d/f", "x"); fs.chmodSync("d/f", 0o755); fs.cpSync("d", "e", {recursive: true});
const out = cp.execSync("echo sync").toString().trim();
const w = new Worker("require('worker_threads').parentPort.postMessage(7)", {eval: true});
w.on("message", m => {
  fs.writeFileSync("child.js", "process.send('ipc', () => process.disconnect())");
  const child = cp.fork("./child.js");
  child.on("message", i => console.log(out, m, i));
});`},
		want: "sync 7 ipc\n",
	},
	{
		name: "git",
		argv: []string{"bash", "-c", `set -eu; export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
			git init -q -b main r; cd r; echo x > f; git add f; git commit -q -m one; git gc -q; cd ..; git clone -q r s; git -C s log --format=%s`},
		want: "one\n",
	},
	{
		name: "go",
		argv: []string{"bash", "-c", `set -eu; mkdir m; cd m; printf 'package main\nfunc main() { println("built") }\n' > main.go; printf 'module m\ngo 1.21\n' > go.mod
			GOFLAGS=-mod=mod GOPROXY=off go build -o hello . && ./hello 2>&1`},
		want: "built\n",
	},
	{
		name: "tar",
		argv: []string{"bash", "-c", `set -eu; mkdir in out; echo x > in/f; ln -s f in/l; tar cf - in | tar xpf - -C out; cat out/in/l`},
		want: "x\n",
	},
}

// Programs print the same without a filter and under the strictest one.
func TestOrdinaryProgramsWork(t *testing.T) {
	arch := host(t)
	for who, user := range identities() {
		for _, p := range programs {
			t.Run(who+"/"+p.name, func(t *testing.T) {
				if p.name == "go" && user != nil {
					t.Log("only as the user who has the build cache: building the runtime takes long")
					return
				}
				for arm, filter := range map[string]*Config{"control": nil, "filtered": {Arch: arch}} {
					assert.Equal(t, p.want, runProgram(t, p.name, p.argv, filter, user), arm)
				}
			})
		}
	}
}

func runProgram(t *testing.T, name string, argv []string, filter *Config, user *syscall.Credential) string {
	t.Helper()
	dir := scratch(t)
	if user != nil { // what lies in the caller's home is out of reach
		t.Setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	}
	requireProgram(t, name)
	path, err := exec.LookPath(argv[0])
	require.NoError(t, err)
	cmd := start(t, order{Filter: filter, Command: append([]string{path}, argv[1:]...)}, user, dir)
	if name == "go" {
		cache, err := exec.Command("go", "env", "GOCACHE").Output()
		require.NoError(t, err)
		cmd.Env = append(cmd.Env, "GOCACHE="+strings.TrimSpace(string(cache)))
	}
	return output(t, cmd)
}

func requireProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("SBX_MUST_WORK") == "1" {
			t.Fatalf("%s: %v", name, err)
		}
		t.Skipf("%s is not installed: %v", name, err)
	}
}
