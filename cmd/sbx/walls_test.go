package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWalls tries what a sandbox must stop. The control arm runs the same
// command outside, where it must work: otherwise the refusal proves nothing.
func TestWalls(t *testing.T) {
	w := newWorld(t)
	w.write("home/.ssh/id_ed25519", "PRIVATE KEY")
	w.write("outside/file", "theirs")
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer tcp.Close()
	go acceptAll(tcp)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer udp.Close()
	go echoAll(udp)
	sleeper := exec.Command("sleep", "60")
	require.NoError(t, sleeper.Start())
	defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
	w.env = []string{"SECRET_TOKEN=hunter2"}

	for _, row := range []struct{ name, script string }{
		{"write outside", "echo x > ../outside/new"},
		{"overwrite outside", "echo x >> ../outside/file"},
		{"read outside", "cat ../outside/file"},
		{"read a private key", "cat " + w.home + "/.ssh/id_ed25519"},
		{"list the home", "ls " + w.home + "/.ssh"},
		{"TCP", python("s=socket.create_connection(('127.0.0.1',%d),5)", port(tcp.Addr()))},
		{"UDP", python("s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);s.settimeout(1);s.sendto(b'x',('127.0.0.1',%d));s.recv(1)", port(udp.LocalAddr()))},
		{"DNS", python("s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);s.connect(('127.0.0.1',%d));s.settimeout(1);s.send(b'q');s.recv(1)", port(udp.LocalAddr()))},
		{"see a host process", fmt.Sprintf("test -d /proc/%d && grep -q sleep /proc/%d/cmdline", sleeper.Process.Pid, sleeper.Process.Pid)},
		{"signal a host process", fmt.Sprintf("kill -0 %d", sleeper.Process.Pid)},
		{"read a secret of the environment", `test -n "$SECRET_TOKEN"`},
		{"read it from another process", `cat /proc/[0-9]*/environ | tr '\0' '\n' | grep -q SECRET_TOKEN`},
		{"the host's name", `test "$(uname -n)" != sbx`},
	} {
		t.Run(row.name, func(t *testing.T) {
			control := w.outside("/bin/sh", "-c", row.script)
			assert.Zero(t, control.code, "the control arm must succeed: %s", control.stderr)
			got := w.sbx("run", "--rw", ".", "-c", row.script)
			assert.NotZero(t, got.code, "got through; stdout %q", got.stdout)
			assert.NotEqual(t, 125, got.code, got.stderr)
		})
	}
	content, err := os.ReadFile(w.dir + "/outside/file")
	require.NoError(t, err)
	assert.Equal(t, "theirs"+"x\n", string(content), "the control arm alone has written")
}

func python(format string, args ...any) string {
	return fmt.Sprintf("/usr/bin/python3 -c \"import socket;"+format+"\"", args...)
}

func port(a net.Addr) int {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.Port
	case *net.UDPAddr:
		return a.Port
	}
	return 0
}

func acceptAll(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Close()
	}
}

func echoAll(c net.PacketConn) {
	buf := make([]byte, 512)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		_, _ = c.WriteTo(buf[:n], from)
	}
}
