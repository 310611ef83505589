package region

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/emr-observatory/emr-observatory/internal/poll"
	"github.com/emr-observatory/emr-observatory/localcloud/machine"
)

// bridge is the region's network; every machine is connected to it by a veth pair.
const bridge = "region0"

// socketDir holds the agents' sockets. A unix socket's path is limited to 108
// bytes, so it cannot be in the state folder, whose path is the user's.
const socketDir = "/run/region"

// Region runs machines. Open one per process, inside the namespaces that Spawn
// created.
type Region struct {
	dir      string // root folders of the machines
	machined string // path of the machined binary
	mu       sync.Mutex
	machines map[string]*Machine
	veths    int // created so far, for their names
}

// Machine is a booted machine and the client of its agent.
type Machine struct {
	machine.Spec
	*machine.Client
	cmd  *exec.Cmd
	done chan struct{} // closed once init has exited
	err  error         // how it exited, once done is closed
}

// Open sets up the region's network: loopback, the bridge with the given
// addresses (CIDR form; gateways of the machines' networks), and forwarding
// between them. dir keeps the machines' root folders; machined is the path of
// the machined binary.
func Open(dir, machined string, addresses ...string) (*Region, error) {
	if err := openNetwork(addresses); err != nil {
		return nil, fmt.Errorf("open the region: %w", err)
	}
	return &Region{dir: dir, machined: machined, machines: map[string]*Machine{}}, nil
}

// openNetwork does the work of Open.
func openNetwork(addresses []string) error {
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("mount /run: %w", err)
	}
	if err := os.MkdirAll(socketDir, 0o700); err != nil {
		return err
	}
	if _, err := machine.SetUpLink("lo"); err != nil {
		return err
	}
	if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridge}}); err != nil {
		return fmt.Errorf("create bridge: %w", err)
	}
	if _, err := machine.SetUpLink(bridge, addresses...); err != nil {
		return err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return fmt.Errorf("forward between the region's networks: %w", err)
	}
	return nil
}

// Root returns the folder that is, or will be, the root of the machine name.
func (r *Region) Root(name string) string { return filepath.Join(r.dir, name) }

// Boot starts a machine and returns once its agent answers. The machine must not
// be running. A root folder left by an earlier run is used again, as a disk is.
func (r *Region) Boot(ctx context.Context, s machine.Spec) (*Machine, error) {
	m, err := r.boot(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("boot machine %s: %w", s.Name, err)
	}
	return m, nil
}

func (r *Region) boot(ctx context.Context, s machine.Spec) (*Machine, error) {
	s.Root, s.SingleUID = r.Root(s.Name), SingleUID()
	r.mu.Lock()
	if r.machines[s.Name] != nil {
		r.mu.Unlock()
		return nil, errors.New("it is running")
	}
	r.veths++
	link := fmt.Sprintf("veth%d", r.veths)
	r.mu.Unlock()
	if err := machine.Prepare(s); err != nil {
		return nil, err
	}
	m, err := r.start(s, link)
	if err != nil {
		return nil, err
	}
	if err := m.awaitReady(ctx); err != nil {
		m.kill()
		return nil, err
	}
	r.mu.Lock()
	r.machines[s.Name] = m
	r.mu.Unlock()
	return m, nil
}

// start starts a machine's init, which waits for its spec until the machine is
// connected.
func (r *Region) start(s machine.Spec, link string) (*Machine, error) {
	socket := filepath.Join(socketDir, s.Name+".sock")
	listener, err := listenUnix(socket)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	specR, specW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer specW.Close()
	cmd := exec.Command(r.machined, "boot")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{specR, listener}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: machineNamespaces, Setpgid: true}
	err = cmd.Start()
	specR.Close()
	if err != nil {
		return nil, err
	}
	m := &Machine{Spec: s, Client: machine.NewClient(s.Name, socket), cmd: cmd, done: make(chan struct{})}
	go func() {
		m.err = cmd.Wait()
		close(m.done)
	}()
	if err := connect(link, cmd.Process.Pid, hardwareAddress(m.Address())); err != nil {
		m.kill()
		return nil, err
	}
	if err := json.NewEncoder(specW).Encode(s); err != nil {
		m.kill()
		return nil, fmt.Errorf("pass the spec to init: %w", err)
	}
	return m, nil
}

// listenUnix opens an agent's socket, for the machine's init to inherit.
func listenUnix(socket string) (*os.File, error) {
	_ = os.Remove(socket)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	return l.File()
}

// hardwareAddress derives a MAC address (locally administered) from an IPv4 address.
// A machine that takes the address of a lost one then has its MAC address, too, as
// an instance on the same network interface of EC2 has. Otherwise neighbours would
// send to the lost machine until their ARP entry expires, for half a minute.
func hardwareAddress(address string) net.HardwareAddr {
	return append(net.HardwareAddr{2, 0}, net.ParseIP(address).To4()...)
}

// connect connects the network namespace of process pid to the bridge with a veth pair.
// The end at the bridge is named link. The end in the namespace is eth0 and has the given
// hardware address.
func connect(link string, pid int, address net.HardwareAddr) error {
	br, err := netlink.LinkByName(bridge)
	if err != nil {
		return fmt.Errorf("find bridge: %w", err)
	}
	veth := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: link, MasterIndex: br.Attrs().Index},
		PeerName:  "eth0", PeerNamespace: netlink.NsPid(pid), PeerHardwareAddr: address,
	}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("create veth pair: %w", err)
	}
	if err := netlink.LinkSetUp(veth); err != nil {
		return fmt.Errorf("bring up %s: %w", link, err)
	}
	return nil
}

// awaitReady waits until the agent answers or init has exited.
func (m *Machine) awaitReady(ctx context.Context) error {
	err := poll.Until(ctx, poll.Options{Interval: 20 * time.Millisecond, Timeout: 2 * time.Minute}, func(ctx context.Context) error {
		select {
		case <-m.done:
			return poll.Permanent(fmt.Errorf("init exited: %w", m.err))
		default:
		}
		_, err := m.Units(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("agent not ready %w; see the region's log", err)
	}
	return nil
}

func (m *Machine) kill() {
	_ = m.cmd.Process.Kill() // the kernel kills the rest of the process namespace with its init
	<-m.done
}

// Address returns the machine's primary address, without its prefix length.
func (m *Machine) Address() string {
	ip, _, err := net.ParseCIDR(m.Addresses[0])
	if err != nil {
		return m.Addresses[0]
	}
	return ip.String()
}

// Machine returns a running machine by name.
func (r *Region) Machine(name string) (*Machine, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.machines[name]
	return m, ok
}

// Lost reports whether a machine has ended without being stopped.
func (m *Machine) Lost() bool {
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}

// Stop kills a machine at once, like a power cut. Its root stays.
func (r *Region) Stop(name string) {
	r.mu.Lock()
	m := r.machines[name]
	delete(r.machines, name)
	r.mu.Unlock()
	if m != nil {
		m.kill()
	}
}

// Remove kills a machine and deletes its root.
func (r *Region) Remove(name string) error {
	r.Stop(name)
	if err := os.RemoveAll(r.Root(name)); err != nil {
		return fmt.Errorf("remove machine %s: %w", name, err)
	}
	return nil
}

// StopAll kills every machine.
func (r *Region) StopAll() {
	r.mu.Lock()
	names := slices.Collect(maps.Keys(r.machines))
	r.mu.Unlock()
	for _, n := range names {
		r.Stop(n)
	}
}
