// Package loopback lets the user who started the local cloud in, and root, and nobody else: neither
// other users of the machine, who reach each port of 127.0.0.1, nor pages in the user's own browser
// whose host name leads to 127.0.0.1 (DNS rebinding). Most of what the local cloud serves asks for
// no password, and some of it runs commands, as what it stands for does within a VPC.
//
// It is no substitute for authentication among the local cloud's own machines.
package loopback

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
)

// Guard decides who may connect.
type Guard struct {
	user int // in the user namespace of who opened sockets

	mu      sync.Mutex // reads of one table in between would move where the kernel goes on
	sockets []*os.File
}

// Sockets opens the kernel's tables of TCP sockets of this process's network namespace. They name
// each socket's user, even when a process in other namespaces reads them: the namespaces are those
// of who opened them. The caller closes them.
func Sockets() ([]*os.File, error) {
	var out []*os.File
	for _, path := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) && len(out) > 0 {
			break // a kernel without IPv6
		}
		if err != nil {
			for _, opened := range out {
				opened.Close()
			}
			return nil, fmt.Errorf("open the table of sockets: %w", err)
		}
		out = append(out, f)
	}
	return out, nil
}

// New returns a guard that lets a user in, and root, by the tables that Sockets opened.
func New(user int, sockets []*os.File) *Guard { return &Guard{user: user, sockets: sockets} }

// Listen returns a listener on which nobody else is accepted: the connections of others are
// closed, and HTTP requests for another host than this machine's own are answered with 421.
func (g *Guard) Listen(l net.Listener) net.Listener { return &listener{l, g} }

type listener struct {
	net.Listener
	guard *Guard
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err //nolint:wrapcheck // servers compare it with net.ErrClosed
		}
		if l.guard.admits(conn) {
			return &guarded{Conn: conn}, nil
		}
		_ = conn.Close()
	}
}

// admits reports whether the client is the user's. A client that has closed its socket already has
// no user any more, and is not let in.
func (g *Guard) admits(conn net.Conn) bool {
	client, clientErr := netip.ParseAddrPort(conn.RemoteAddr().String())
	server, serverErr := netip.ParseAddrPort(conn.LocalAddr().String())
	if clientErr != nil || serverErr != nil {
		return false
	}
	// Sockets that close while the table is read may move others past the reader: once more, then.
	// A socket that is being closed may have root for a user and still be there: so must root's be.
	user, found := g.owner(client, server)
	if !found || user == 0 && g.user != 0 {
		user, found = g.owner(client, server)
	}
	return found && (user == g.user || user == 0)
}

func (g *Guard) owner(client, server netip.AddrPort) (user int, found bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, table := range g.sockets {
		if user, found = owner(table, client, server); found {
			return user, true
		}
	}
	return 0, false
}

// guarded is a connection whose first bytes are checked as they are read.
type guarded struct {
	net.Conn

	once  sync.Once
	first []byte // what was read to check it, and not returned yet
	err   error
}

// Read implements net.Conn.
func (c *guarded) Read(b []byte) (int, error) {
	c.once.Do(func() { c.first, c.err = readHead(c.Conn) })
	if c.err != nil {
		return 0, c.err
	}
	if len(c.first) > 0 {
		n := copy(b, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(b) //nolint:wrapcheck // servers compare it with io.EOF
}

// CloseWrite closes the writing half.
func (c *guarded) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite() //nolint:wrapcheck // as the connection's own
	}
	return nil
}
