package main_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// help sets up something of the host that an attack is after:
//
//	tcp4 | tcp6 | udp4          listeners that answer with the secret: $TCP4 ...
//	unix P | unix-datagram P    the same on a socket file
//	abstract                    on an abstract address: $ABSTRACT
//	agent P                     a key agent with no keys
//	dialer                      calls $PORT all the time and says the secret
//	touch DIR                   changes a directory all the time
//	swap A B                    exchanges two names all the time
//	victim                      a process: $VICTIM $VICTIM_ADDR $VICTIM_FD
//	file DIR                    a file with the secret: $HOSTFILE
//	shm | msg | sem | mqueue    objects of System V and POSIX: $SHM ...
//	session-key | user-key      a key with the secret: $KEY
//	later P                     a file with the secret, a moment after the start
//	terminal                    a terminal into which the secret is typed: $PTS
//	many N DIR SUFFIX           a file with the secret under N names
func (s *stage) help(line string) error {
	words := strings.Fields(line)
	switch words[0] {
	case "tcp4":
		return s.serve("TCP4", "tcp4", "127.0.0.1:0", speakSecret)
	case "tcp6":
		return s.serve("TCP6", "tcp6", "[::1]:0", speakSecret)
	case "unix":
		return s.serve("UNIX", "unix", s.path(words[1]), speakSecret)
	case "abstract":
		return s.serve("ABSTRACT", "unix", "@"+s.vars["MARK"], speakSecret)
	case "agent":
		return s.serve("AGENT", "unix", s.path(words[1]), speakAgent)
	case "udp4":
		return s.echo("UDP4", "udp4", "127.0.0.1:0")
	case "unix-datagram":
		return s.echo("UNIX", "unixgram", s.path(words[1]))
	case "dialer":
		return s.dial()
	case "touch":
		return s.every(10*time.Millisecond, func() { _ = os.WriteFile(s.path(words[1])+"/changed", []byte("x"), 0o644) })
	case "swap":
		return s.swap(s.path(words[1]), s.path(words[2]))
	case "victim":
		return s.victim()
	case "file":
		return s.hostFile(words[1])
	case "later":
		return s.after(80*time.Millisecond, func() { _ = os.WriteFile(s.path(words[1]), []byte(hostSecret), 0o644) })
	case "terminal":
		return s.otherTerminal()
	case "many":
		return s.many(words[1], words[2], words[3])
	}
	return s.object(words[0])
}

func speakSecret(c net.Conn) { fmt.Fprintln(c, hostSecret) }

// speakAgent answers any question with an empty list of keys
// (SSH_AGENT_IDENTITIES_ANSWER).
func speakAgent(c net.Conn) {
	if _, err := io.ReadFull(c, make([]byte, 5)); err == nil {
		_, _ = c.Write([]byte{0, 0, 0, 5, 12, 0, 0, 0, 0})
	}
}

// serve answers everybody who calls, for as long as the stage stands.
func (s *stage) serve(name, network, addr string, speak func(net.Conn)) error {
	if err := makeRoom(addr); err != nil {
		return err
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		return err
	}
	s.vars[name] = l.Addr().String()
	s.undo = append(s.undo, l.Close)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				speak(c)
				// Closing with unread input would reset the connection and lose the answer.
				_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
				_, _ = io.Copy(io.Discard, c)
				c.Close()
			}()
		}
	}()
	return nil
}

// makeRoom makes the directory of a socket file.
func makeRoom(addr string) error {
	if !strings.HasPrefix(addr, "/") {
		return nil
	}
	return os.MkdirAll(filepath.Dir(addr), 0o755)
}

// echo answers datagrams and remembers what the probe has planted.
func (s *stage) echo(name, network, addr string) error {
	var c net.PacketConn
	var err error
	if network == "unixgram" {
		c, err = net.ListenUnixgram(network, &net.UnixAddr{Name: addr, Net: network})
	} else {
		c, err = net.ListenPacket(network, addr)
	}
	if err != nil {
		return err
	}
	s.vars[name] = c.LocalAddr().String()
	s.undo = append(s.undo, c.Close)
	var heard atomic.Bool
	s.marks["heard"] = func() (bool, error) {
		for range 40 {
			if heard.Load() {
				return true, nil
			}
			time.Sleep(time.Millisecond)
		}
		return false, nil
	}
	go func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			if strings.Contains(string(buf[:n]), plantedText) {
				heard.Store(true)
			}
			if from != nil {
				_, _ = c.WriteTo([]byte(hostSecret), from)
			}
		}
	}()
	return nil
}

// dial calls a free port over and over until the stage falls.
func (s *stage) dial() error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	s.vars["PORT"] = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	if err := l.Close(); err != nil {
		return err
	}
	return s.every(5*time.Millisecond, func() {
		c, err := net.DialTimeout("tcp4", addr, 50*time.Millisecond)
		if err == nil {
			speakSecret(c)
			c.Close()
		}
	})
}

// every repeats a thing until the stage falls.
func (s *stage) every(pause time.Duration, do func()) error {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(pause):
				do()
			}
		}
	}()
	s.undo = append(s.undo, func() error {
		close(stop)
		<-stopped
		return nil
	})
	return nil
}

// after does a thing once, unless the stage has fallen by then.
func (s *stage) after(pause time.Duration, do func()) error {
	var once sync.Once
	return s.every(pause, func() { once.Do(do) })
}

// swap exchanges a name with that of a link, and back. The pauses with the
// right one in place vary from far less to more than what a launch takes, so
// that some get through and others meet the exchange at any moment.
func (s *stage) swap(a, link string) error {
	return s.every(500*time.Microsecond, func() {
		_ = exchange(a, link)
		if info, err := os.Lstat(a); err == nil && info.Mode()&os.ModeSymlink == 0 {
			time.Sleep(time.Millisecond << rand.N(6))
		}
	})
}

// hostFile puts a file with the secret into a directory that all share.
func (s *stage) hostFile(dir string) error {
	f, err := os.CreateTemp(dir, "escape-suite-*")
	if err != nil {
		return err
	}
	s.vars["HOSTFILE"] = f.Name()
	s.undo = append(s.undo, func() error { return os.Remove(f.Name()) })
	_, err = f.WriteString(hostSecret)
	return errors.Join(err, f.Close())
}

// connected is the descriptor of a connection to one of the listeners.
func connected(addr string) (*os.File, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.(*net.TCPConn).File()
}

// many makes names of a file with the secret: making as many files takes
// seconds on some disks.
func (s *stage) many(count, dir, suffix string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.path(dir), 0o755); err != nil {
		return err
	}
	name := func(i int) string { return fmt.Sprintf("%s/%d%s", s.path(dir), i, suffix) }
	if err := os.WriteFile(name(0), []byte(hostSecret), 0o644); err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		if err := os.Link(name(0), name(i)); err != nil {
			return err
		}
	}
	return nil
}
