package loopback_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/emr-observatory/emr-observatory/localcloud/loopback"
)

// serve serves a user's guard and returns its address.
func serve(t *testing.T, user int, handler http.Handler) string {
	t.Helper()
	tables, err := loopback.Sockets()
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(loopback.New(user, tables).Listen(l)) }()
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
		for _, table := range tables {
			require.NoError(t, table.Close())
		}
	})
	return l.Addr().String()
}

var hello = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "hello %s", body)
})

// exchange writes a text to an address and returns what it answers.
func exchange(t *testing.T, address string, parts ...string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	for _, part := range parts {
		if _, err = io.WriteString(conn, part); err != nil {
			break // the server has closed it
		}
	}
	answer, err := io.ReadAll(conn)
	if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		require.NoError(t, err)
	}
	return string(answer)
}

func request(host string) string {
	return "POST /run HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\nContent-Length: 5\r\n\r\nworld"
}

func TestRequestsToThisMachineAreServed(t *testing.T) {
	address := serve(t, os.Getuid(), hello)
	for _, host := range []string{"127.0.0.1", "127.0.0.1:7070", "localhost", "localhost:1", "LocalHost", "[::1]:80", "127.9.9.9"} {
		require.Contains(t, exchange(t, address, request(host)), "hello world", host)
	}
	whole := request("localhost")
	require.Contains(t, exchange(t, address, strings.Split(whole, "")...), "hello world", "byte by byte")
	require.Contains(t, exchange(t, address, strings.Replace(whole, "5\r\n\r\nworld", "200000\r\n\r\n", 1), strings.Repeat("x", 200000)),
		strings.Repeat("x", 200000))
	require.Contains(t, exchangeAsJava(t, address, whole), "hello world")
}

// exchangeAsJava is exchange over a socket of IPv6 that is connected over IPv4.
func exchangeAsJava(t *testing.T, address, text string) string {
	t.Helper()
	at, err := netip.ParseAddrPort(address)
	require.NoError(t, err)
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_STREAM, 0)
	if errors.Is(err, unix.EAFNOSUPPORT) {
		t.Skip("a kernel without IPv6")
	}
	require.NoError(t, err)
	socket := os.NewFile(uintptr(fd), "socket")
	defer socket.Close()
	require.NoError(t, unix.Connect(fd, &unix.SockaddrInet6{
		Port: int(at.Port()), Addr: netip.AddrFrom16(at.Addr().As16()).As16(),
	}))
	_, err = io.WriteString(socket, text)
	require.NoError(t, err)
	answer, err := io.ReadAll(socket)
	require.NoError(t, err)
	return string(answer)
}

// The server's own deadline ends a connection that says nothing, and no other does.
func TestSilentConnectionsEndWithTheServersDeadline(t *testing.T) {
	tables, err := loopback.Sockets()
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	accepted, err := loopback.New(os.Getuid(), tables).Listen(l).Accept()
	require.NoError(t, err)
	defer accepted.Close()
	require.NoError(t, accepted.SetReadDeadline(time.Now().Add(-time.Second)))
	_, err = accepted.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

// A page whose host name leads to 127.0.0.1 asks for its own host.
func TestRequestsToOtherHostsAreRefused(t *testing.T) {
	reached := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("reached") })
	address := serve(t, os.Getuid(), reached)
	for _, host := range []string{
		"attacker.example", "attacker.example:7070", "127.0.0.1.attacker.example", "localhost.attacker.example", "10.0.0.4", "0.0.0.0",
		"127.0.0.1@attacker.example", "",
	} {
		require.Contains(t, exchange(t, address, request(host)), "HTTP/1.1 421 Misdirected Request\r\n", host)
	}
	require.Contains(t, exchange(t, address, "GET http://attacker.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n"), "421")
	require.Contains(t, exchange(t, address, "GET / HTTP/1.0\r\n\r\n"), "421")
	for _, method := range []string{"x", "post", "X1", "A_B", "a.b!#", strings.Repeat("X", 40)} { // as fetch sends them
		require.Contains(t, exchange(t, address, strings.Replace(request("attacker.example"), "POST", method, 1)), "421", method)
	}
	require.Contains(t, exchange(t, address, "GET / HTTP/1.1\r\nno header\r\n\r\n"), "400")
	require.Contains(t, exchange(t, address, "no request\r\n\r\n"), "400")
	require.Contains(t, exchange(t, address, "GET / HTTP/1.1\r\nX: "+strings.Repeat("x", 80<<10)), "431")
}

// What is not HTTP passes as it is, such as TLS and HTTP/2.
func TestOtherProtocolsPass(t *testing.T) {
	tables, err := loopback.Sockets()
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	guarded := loopback.New(os.Getuid(), tables).Listen(l)
	go func() {
		for {
			conn, err := guarded.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				first := make([]byte, 8)
				_, _ = io.ReadFull(conn, first)
				fmt.Fprintf(conn, "read %q", first)
			}()
		}
	}()
	for _, sent := range []string{"\x16\x03\x01\x02\x00\x01\x00\x01", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"} {
		require.Equal(t, fmt.Sprintf("read %q", sent[:8]), exchange(t, l.Addr().String(), sent))
	}
}

// Another user's connection is closed before a byte of it is read, and so is one whose client has
// closed its socket: the kernel names no user of it any more.
func TestOtherUsersAreRefused(t *testing.T) {
	reached := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("reached") })
	address := serve(t, os.Getuid()+1, reached)
	if os.Getuid() != 0 {
		require.Empty(t, exchange(t, address, request("localhost")))
		return
	}
	require.Contains(t, exchange(t, serve(t, 12345, hello), request("localhost")), "hello", "root can do more than that")
	other := exec.CommandContext(t.Context(), forOthers(t), "-test.run=TestAsAnotherUser", "-test.v")
	other.Env = append(os.Environ(), addressEnv+"="+serve(t, 0, reached))
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 12345, Gid: 12345}}
	other.Dir = "/"
	out, err := other.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "refused 100 times")
}

// forOthers returns a copy of the test binary that other users can run.
func forOthers(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{filepath.Dir(dir), dir} {
		require.NoError(t, os.Chmod(folder, 0o755))
	}
	binary, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	path := filepath.Join(dir, "test")
	require.NoError(t, os.WriteFile(path, binary, 0o755))
	return path
}

const addressEnv = "OBSERVATORY_LOOPBACK_TEST"

// TestAsAnotherUser is the attack of TestOtherUsersAreRefused, in a process of another user.
func TestAsAnotherUser(t *testing.T) {
	address := os.Getenv(addressEnv)
	if address == "" {
		t.Skip("run by TestOtherUsersAreRefused")
	}
	for n := range 100 {
		if n%2 == 0 {
			require.Empty(t, exchange(t, address, request("localhost")))
			continue
		}
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		_, _ = io.WriteString(conn, request("localhost"))
		_ = conn.Close() // before the server looks
	}
	t.Log("refused 100 times")
}
