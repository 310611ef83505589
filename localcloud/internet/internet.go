package internet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
)

// Addresses outside the VPC.
const (
	// WorkstationAddress must be public, as an operator's is. Its network was that
	// of the 6to4 relays, and is nobody's since RFC 7526.
	WorkstationAddress = "192.88.99.10"
	routerAddress      = "192.88.99.1"
	prefixLength       = "/24"

	// elasticIPs contains the addresses that package simulator/record allocates
	// (TEST-NET-3, RFC 5737).
	elasticIPs = "203.0.113.0/24"
)

// Ends of the link between the region's router and the workstation.
const (
	routerLink      = "internet0"
	workstationLink = "eth0"
)

// dialTimeout bounds an attempt to connect from the workstation. Security groups
// drop what they do not admit, so there is no answer to wait for.
const dialTimeout = 5 * time.Second

// Internet is a region's workstation and internet gateway. Open one per process,
// inside the namespaces of a region.
type Internet struct {
	region, workstation netns.NsHandle

	mu        sync.Mutex
	addresses map[netip.Addr]bool         // that the gateway has
	ports     map[netip.AddrPort]*mapping // open, by public address
}

// Open creates the workstation and connects it to the region's router.
func Open() (*Internet, error) {
	i, err := open()
	if err != nil {
		return nil, fmt.Errorf("open the internet: %w", err)
	}
	return i, nil
}

func open() (*Internet, error) {
	region, err := netns.Get()
	if err != nil {
		return nil, fmt.Errorf("network namespace of the region: %w", err)
	}
	i := &Internet{region: region, addresses: map[netip.Addr]bool{}, ports: map[netip.AddrPort]*mapping{}}
	err = i.onOwnThread(func() error {
		i.workstation, err = netns.New()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create the workstation's network namespace: %w", err)
	}
	veth := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: routerLink}, PeerName: workstationLink, PeerNamespace: netlink.NsFd(i.workstation),
	}
	if err := netlink.LinkAdd(veth); err != nil {
		return nil, fmt.Errorf("create veth pair: %w", err)
	}
	if _, err := machine.SetUpLink(routerLink, routerAddress+prefixLength); err != nil {
		return nil, err
	}
	return i, i.onWorkstation(setUpWorkstation)
}

// setUpWorkstation gives the workstation its address and its only route.
func setUpWorkstation() error {
	if _, err := machine.SetUpLink("lo"); err != nil {
		return err
	}
	link, err := machine.SetUpLink(workstationLink, WorkstationAddress+prefixLength)
	if err != nil {
		return err
	}
	_, to, err := net.ParseCIDR(elasticIPs)
	if err != nil {
		return err
	}
	if err := netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: to, Gw: net.ParseIP(routerAddress)}); err != nil {
		return fmt.Errorf("add route to %s: %w", elasticIPs, err)
	}
	return nil
}

// Dial connects from the workstation to an address and port. The workstation
// resolves no names.
func (i *Internet) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if _, err := netip.ParseAddrPort(address); err != nil {
		return nil, fmt.Errorf("connect from %s: %w", WorkstationAddress, err)
	}
	var conn net.Conn
	err := i.onWorkstation(func() (err error) {
		d := net.Dialer{Timeout: dialTimeout}
		conn, err = d.DialContext(ctx, network, address)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("connect from %s: %w", WorkstationAddress, err)
	}
	return conn, nil
}

// Start starts a command on the workstation.
func (i *Internet) Start(cmd *exec.Cmd) error {
	if err := i.onWorkstation(cmd.Start); err != nil {
		return fmt.Errorf("start on the workstation: %w", err)
	}
	return nil
}

// onWorkstation calls do in the workstation's network namespace: sockets that it
// opens and processes that it starts stay there.
func (i *Internet) onWorkstation(do func() error) error {
	return i.onOwnThread(func() error {
		if err := netns.Set(i.workstation); err != nil {
			return fmt.Errorf("enter the workstation's network namespace: %w", err)
		}
		return do()
	})
}

// onOwnThread calls do on a thread that nothing else uses meanwhile, and brings the
// thread back to the region's network namespace. A thread that cannot return stays
// locked, so that it ends with its goroutine.
func (i *Internet) onOwnThread(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := do()
		if back := netns.Set(i.region); back != nil {
			err = errors.Join(err, fmt.Errorf("return to the region's network namespace: %w", back))
		} else {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}
