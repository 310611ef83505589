package machine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Forward forwards a TCP port of the machine to another address.
type Forward struct {
	Port int
	To   string // host:port; empty closes the port
	// KeepSource has the target see the client's own address, as a NodePort with
	// externalTrafficPolicy Local does. The target must be a machine that sends its answers
	// back through this one (ReplyThrough), in a network to which this one is connected.
	KeepSource bool
}

// ReplyThrough has a machine send what it answers on a TCP port to the router, whoever asked,
// unless that is in a network of its own.
type ReplyThrough struct {
	Port   int
	Router string // address of another machine in the same network
}

// repliesTable is the routing table of answers to connections that keep their source.
const repliesTable = 100

// forward opens or closes a forwarded port.
func (a *Agent) forward(_ context.Context, f Forward) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if old := a.forwards[f.Port]; old != nil {
		old.Close()
		delete(a.forwards, f.Port)
	}
	if f.To == "" {
		return nil
	}
	dial := func(ctx context.Context, _ net.Conn) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", f.To)
	}
	if f.KeepSource {
		if err := takeReplies(f.To); err != nil {
			return fmt.Errorf("forward port %d of %s: take the answers of %s: %w", f.Port, a.spec.Name, f.To, err)
		}
		dial = func(ctx context.Context, client net.Conn) (net.Conn, error) { return dialAs(ctx, client, f.To) }
	}
	l, err := net.Listen("tcp", fmt.Sprintf(":%d", f.Port))
	if err != nil {
		return fmt.Errorf("forward port %d of %s: %w", f.Port, a.spec.Name, err)
	}
	a.forwards[f.Port] = l
	go relayFrom(l, dial)
	return nil
}

// dialAs connects to an address with that of a client as its source. A client on this machine, or in
// the target's network, gets its answers from this machine: the target would answer it directly.
func dialAs(ctx context.Context, client net.Conn, to string) (net.Conn, error) {
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		if err := raw.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.SOL_IP, unix.IP_TRANSPARENT, 1) }); err != nil {
			return err
		}
		return failed
	}}
	from, ok := client.RemoteAddr().(*net.TCPAddr)
	self, _ := client.LocalAddr().(*net.TCPAddr)
	if !ok || self == nil || from.IP.Equal(self.IP) || neighbours(from.IP, to) {
		return new(net.Dialer).DialContext(ctx, "tcp", to)
	}
	d.LocalAddr = &net.TCPAddr{IP: from.IP}
	return d.DialContext(ctx, "tcp", to)
}

// neighbours reports whether an address is in the same network as a host:port, of those to which this
// machine is connected.
func neighbours(ip net.IP, to string) bool {
	host, _, err := net.SplitHostPort(to)
	if err != nil {
		return false
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(addresses, func(a net.Addr) bool {
		network, ok := a.(*net.IPNet)
		return ok && network.Contains(ip) && network.Contains(net.ParseIP(host))
	})
}

// takeReplies delivers here, whatever their destination, the packets that come from a TCP port of
// another machine: the answers to dialAs.
func takeReplies(from string) error {
	target, err := netip.ParseAddrPort(from)
	if err != nil {
		return err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	_, everything, err := net.ParseCIDR("0.0.0.0/0")
	if err != nil {
		return err
	}
	local := netlink.Route{LinkIndex: lo.Attrs().Index, Dst: everything, Table: repliesTable, Type: unix.RTN_LOCAL, Scope: unix.RT_SCOPE_HOST}
	if err := netlink.RouteReplace(&local); err != nil {
		return fmt.Errorf("route to this machine: %w", err)
	}
	rule := repliesOf(target.Port())
	rule.Src, rule.IifName = &net.IPNet{IP: target.Addr().AsSlice(), Mask: net.CIDRMask(32, 32)}, guestInterface
	return addRule(rule)
}

// replyThrough is the other half of takeReplies, on the machine that answers.
func (a *Agent) replyThrough(_ context.Context, r ReplyThrough) error {
	if err := replyThrough(r); err != nil {
		return fmt.Errorf("answer on port %d through %s: %w", r.Port, r.Router, err)
	}
	return nil
}

func replyThrough(r ReplyThrough) error {
	eth, err := netlink.LinkByName(guestInterface)
	if err != nil {
		return err
	}
	own, err := netlink.AddrList(eth, netlink.FAMILY_V4)
	if err != nil {
		return err
	}
	routes := []netlink.Route{{LinkIndex: eth.Attrs().Index, Gw: net.ParseIP(r.Router), Table: repliesTable}}
	for _, address := range own { // who asks from there is answered as usual
		network := &net.IPNet{IP: address.IP.Mask(address.Mask), Mask: address.Mask}
		routes = append(routes, netlink.Route{Dst: network, Table: repliesTable, Type: unix.RTN_THROW})
	}
	for i := range routes {
		if err := netlink.RouteReplace(&routes[i]); err != nil {
			return fmt.Errorf("route %s: %w", routes[i], err)
		}
	}
	return addRule(repliesOf(uint16(r.Port)))
}

// repliesOf returns a rule for what leaves a TCP port, before the main table's.
func repliesOf(port uint16) *netlink.Rule {
	rule := netlink.NewRule()
	rule.Family, rule.Table, rule.Priority = netlink.FAMILY_V4, repliesTable, repliesTable
	rule.IPProto, rule.Sport = unix.IPPROTO_TCP, netlink.NewRulePortRange(port, port)
	return rule
}

func addRule(rule *netlink.Rule) error {
	if err := netlink.RuleAdd(rule); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("add rule %s: %w", rule, err)
	}
	return nil
}
