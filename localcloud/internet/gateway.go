package internet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"

	"github.com/vishvananda/netlink"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
)

// Address is an instance's Elastic IP, with what its security groups admit.
type Address struct {
	Public, Private netip.Addr
	Admitted        []Admission
}

// Admission lets a network connect to TCP ports.
type Admission struct {
	First, Last uint16
	Source      netip.Prefix
}

// maxPorts bounds how many ports of an address are open: each needs a socket.
const maxPorts = 64

// Map makes the gateway map exactly these addresses. Connections to ports that are
// no longer mapped end. Those from networks that are no longer admitted go on, as
// connections that EC2 tracks do.
func (i *Internet) Map(addresses []Address) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	wanted := map[netip.Addr]bool{}
	ports := map[netip.AddrPort]openPort{}
	var errs []error
	for _, a := range addresses {
		wanted[a.Public] = true
		open, err := a.openPorts()
		if err != nil {
			errs = append(errs, err)
		}
		maps.Copy(ports, open)
	}
	errs = append(errs, i.unmap(wanted, ports))
	for a := range wanted {
		if !i.addresses[a] {
			errs = append(errs, i.add(a))
		}
	}
	for at, p := range ports {
		if err := i.open(at, p); err != nil {
			errs = append(errs, fmt.Errorf("open %s: %w", at, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("map public addresses: %w", err)
	}
	return nil
}

// openPort is where a public port leads, and from which networks it is open.
type openPort struct {
	target  netip.AddrPort
	sources []netip.Prefix
}

func (a Address) openPorts() (map[netip.AddrPort]openPort, error) {
	open := map[netip.AddrPort]openPort{}
	for _, rule := range a.Admitted {
		if n := int(rule.Last) - int(rule.First) + 1; n+len(open) > maxPorts {
			return nil, fmt.Errorf("%s: security groups admit %d ports or more: the local cloud maps at most %d; narrow their ranges",
				a.Public, n+len(open), maxPorts)
		}
		for port := int(rule.First); port <= int(rule.Last); port++ {
			at := netip.AddrPortFrom(a.Public, uint16(port))
			p := open[at]
			p.target, p.sources = netip.AddrPortFrom(a.Private, at.Port()), append(p.sources, rule.Source)
			open[at] = p
		}
	}
	return open, nil
}

// unmap closes the ports that are not wanted, or lead elsewhere, and removes the
// addresses that are not wanted.
func (i *Internet) unmap(addresses map[netip.Addr]bool, ports map[netip.AddrPort]openPort) error {
	for at, m := range i.ports {
		if p, stays := ports[at]; !stays || p.target != m.target {
			m.close()
			delete(i.ports, at)
		}
	}
	for a := range i.addresses {
		if addresses[a] {
			continue
		}
		if err := changeAddress(a, netlink.AddrDel); err != nil {
			return fmt.Errorf("remove %s from the router: %w", a, err)
		}
		delete(i.addresses, a)
	}
	return nil
}

// add gives the router an address. No instance has it on an interface: EC2 maps it
// at the gateway.
func (i *Internet) add(a netip.Addr) error {
	if err := changeAddress(a, netlink.AddrAdd); err != nil {
		return fmt.Errorf("add %s to the router: %w", a, err)
	}
	i.addresses[a] = true
	return nil
}

func changeAddress(a netip.Addr, change func(netlink.Link, *netlink.Addr) error) error {
	link, err := netlink.LinkByName(routerLink)
	if err != nil {
		return err
	}
	return change(link, &netlink.Addr{IPNet: &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(a.BitLen(), a.BitLen())}})
}

// open opens a port, or changes the networks that an open one admits.
func (i *Internet) open(at netip.AddrPort, p openPort) error {
	if m := i.ports[at]; m != nil {
		return m.admit(p.sources)
	}
	// A filter that is set before the socket listens leaves no gap. Filters of MPTCP
	// sockets do not apply to their connections.
	listen := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error { return admitOnly(raw, p.sources) }}
	listen.SetMultipathTCP(false)
	l, err := listen.Listen(context.Background(), "tcp", at.String())
	if err != nil {
		return err
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return errors.Join(fmt.Errorf("the listener is a %T", l), l.Close())
	}
	m := &mapping{TCPListener: tcp, target: p.target, sources: p.sources, connections: map[net.Conn]bool{}}
	i.ports[at] = m
	go machine.Relay(m, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", p.target.String())
	})
	return nil
}

// mapping is an open port of a public address. It tracks its connections, so that
// they end with it.
type mapping struct {
	*net.TCPListener
	target  netip.AddrPort
	sources []netip.Prefix

	mu          sync.Mutex
	connections map[net.Conn]bool // nil once it is closed
}

// Accept implements net.Listener.
func (m *mapping) Accept() (net.Conn, error) {
	conn, err := m.AcceptTCP()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.connections == nil {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	tracked := &connection{TCPConn: conn, from: m}
	m.connections[tracked] = true
	return tracked, nil
}

// admit changes the networks that may connect.
func (m *mapping) admit(sources []netip.Prefix) error {
	if slices.Equal(m.sources, sources) {
		return nil
	}
	raw, err := m.SyscallConn()
	if err != nil {
		return err
	}
	if err := admitOnly(raw, sources); err != nil {
		return err
	}
	m.sources = sources
	return nil
}

// close closes the port and its connections.
func (m *mapping) close() {
	_ = m.Close()
	m.mu.Lock()
	open := m.connections
	m.connections = nil
	m.mu.Unlock()
	for c := range open {
		_ = c.Close()
	}
}

// connection is a connection to a mapping.
type connection struct {
	*net.TCPConn
	from *mapping
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.from.mu.Lock()
	delete(c.from.connections, c)
	c.from.mu.Unlock()
	return c.TCPConn.Close()
}
