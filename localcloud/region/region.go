package region

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/emr-observatory/emr-observatory/localcloud/machine"
)

// bridge is the region's network; every machine has a cable to it.
const bridge = "region0"

// socketDir holds the agents' sockets. Paths of unix sockets are limited to 108
// bytes, so they cannot stand in the state folder, whose path is the user's.
const socketDir = "/run/region"

// Region is the running ground. Make one per process, inside the namespaces
// that Spawn made.
type Region struct {
	dir      string // <state>/machines
	machined string
	mu       sync.Mutex
	machines map[string]*Machine
	cables   int
}

// Machine is a booted machine and the client of its agent.
type Machine struct {
	machine.Spec
	*machine.Client
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Open raises the region's network: loopback, the bridge with the given
// addresses (CIDR form; gateways of the machines' networks), and forwarding
// between them. dir keeps the machines' root folders; machined is the path of
// the machined binary.
func Open(dir, machined string, addresses ...string) (*Region, error) {
	if err := mountTmpfs("/run"); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(socketDir, 0o700); err != nil {
		return nil, err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return nil, err
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return nil, fmt.Errorf("loopback: %w", err)
	}
	br := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridge}}
	if err := netlink.LinkAdd(br); err != nil {
		return nil, fmt.Errorf("bridge: %w", err)
	}
	for _, a := range addresses {
		addr, err := netlink.ParseAddr(a)
		if err != nil {
			return nil, fmt.Errorf("region address %q: %w", a, err)
		}
		if err := netlink.AddrAdd(br, addr); err != nil {
			return nil, fmt.Errorf("region address %s: %w", a, err)
		}
	}
	if err := netlink.LinkSetUp(br); err != nil {
		return nil, err
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil { //nolint:gosec // a kernel switch
		return nil, fmt.Errorf("forward between the region's networks: %w", err)
	}
	return &Region{dir: dir, machined: machined, machines: map[string]*Machine{}}, nil
}

func mountTmpfs(path string) error {
	if err := syscall.Mount("tmpfs", path, "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("mount %s: %w", path, err)
	}
	return nil
}

// Root is the folder that is, or will be, the root of the machine name.
func (r *Region) Root(name string) string { return filepath.Join(r.dir, name) }

// Boot starts a machine and returns when its agent answers. A machine of that
// name that runs already is an error; a root folder left by an earlier one is
// used again, as a disk would be.
func (r *Region) Boot(ctx context.Context, s machine.Spec) (*Machine, error) {
	s.Root = r.Root(s.Name)
	r.mu.Lock()
	if r.machines[s.Name] != nil {
		r.mu.Unlock()
		return nil, fmt.Errorf("machine %s runs already", s.Name)
	}
	r.cables++
	cable := fmt.Sprintf("cable%d", r.cables)
	r.mu.Unlock()
	if err := machine.Prepare(s); err != nil {
		return nil, err
	}
	m, err := r.start(s, cable)
	if err != nil {
		return nil, fmt.Errorf("boot machine %s: %w", s.Name, err)
	}
	if err := m.ready(ctx); err != nil {
		m.kill()
		return nil, fmt.Errorf("boot machine %s: %w", s.Name, err)
	}
	r.mu.Lock()
	r.machines[s.Name] = m
	r.mu.Unlock()
	return m, nil
}

func (r *Region) start(s machine.Spec, cable string) (*Machine, error) {
	socket := filepath.Join(socketDir, s.Name+".sock")
	_ = os.Remove(socket)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	listener, err := l.File()
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	specR, specW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer specW.Close()
	cmd := exec.Command(r.machined, "boot") //nolint:gosec // our own binary
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{specR, listener}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Setpgid:    true,
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	specR.Close()
	m := &Machine{Spec: s, Client: machine.NewClient(s.Name, socket), cmd: cmd, done: make(chan struct{})}
	go func() {
		m.err = cmd.Wait()
		close(m.done)
	}()
	if err := connect(cable, cmd.Process.Pid); err != nil {
		m.kill()
		return nil, err
	}
	if err := json.NewEncoder(specW).Encode(s); err != nil {
		m.kill()
		return nil, err
	}
	return m, nil
}

// connect gives the process's network namespace a cable to the bridge.
func connect(cable string, pid int) error {
	br, err := netlink.LinkByName(bridge)
	if err != nil {
		return err
	}
	veth := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: cable, MasterIndex: br.Attrs().Index},
		PeerName:  "eth0", PeerNamespace: netlink.NsPid(pid),
	}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("cable: %w", err)
	}
	return netlink.LinkSetUp(veth)
}

// ready waits until the agent answers or the machine's init has died.
func (m *Machine) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := m.Units(ctx); err == nil {
			return nil
		}
		select {
		case <-m.done:
			return fmt.Errorf("its init ended: %w; see the region's log", m.err)
		case <-ctx.Done():
			return errors.New("its agent did not answer within 20 s; see the region's log")
		case <-tick.C:
		}
	}
}

func (m *Machine) kill() {
	_ = m.cmd.Process.Kill() // the kernel ends all of the process namespace with its init
	<-m.done
}

// Address is the machine's primary address, without its prefix length.
func (m *Machine) Address() string {
	ip, _, err := net.ParseCIDR(m.Addresses[0])
	if err != nil {
		return m.Addresses[0]
	}
	return ip.String()
}

// Machine finds a running machine by name.
func (r *Region) Machine(name string) (*Machine, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.machines[name]
	return m, ok
}

// Stop ends a machine at once, as a power cut would. Its root stays.
func (r *Region) Stop(name string) {
	r.mu.Lock()
	m := r.machines[name]
	delete(r.machines, name)
	r.mu.Unlock()
	if m != nil {
		m.kill()
	}
}

// Remove ends a machine and deletes its root.
func (r *Region) Remove(name string) error {
	r.Stop(name)
	if err := os.RemoveAll(r.Root(name)); err != nil {
		return fmt.Errorf("remove machine %s: %w", name, err)
	}
	return nil
}

// StopAll ends every machine.
func (r *Region) StopAll() {
	r.mu.Lock()
	names := make([]string, 0, len(r.machines))
	for n := range r.machines {
		names = append(names, n)
	}
	r.mu.Unlock()
	for _, n := range names {
		r.Stop(n)
	}
}
