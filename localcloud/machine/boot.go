package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// File descriptors that the region passes to a booting machine.
const (
	specFD   = 3 // the Spec as JSON, until end of file; closed once the network is attached
	listenFD = 4 // the agent's listening unix socket
)

// guestInterface is the machine's end of its veth pair.
const guestInterface = "eth0"

// machinedPath is the path of machined inside a machine.
const machinedPath = hostDir + "/machined"

// Boot runs the machine's init: it reads the spec, configures network, host name
// and root, starts the agent, and reaps orphaned processes. It returns when the
// agent exits; the kernel then kills every other process of the machine.
func Boot() error {
	s, raw, err := readSpec()
	if err != nil {
		return err
	}
	if err := boot(&s); err != nil {
		return fmt.Errorf("boot machine %s: %w", s.Name, err)
	}
	spec, err := pipeWith(raw)
	if err != nil {
		return fmt.Errorf("boot machine %s: pass the spec to the agent: %w", s.Name, err)
	}
	return initProcess([]string{machinedPath, "agent"}, []*os.File{spec, os.NewFile(listenFD, "listener")})
}

// boot configures host name and network and enters the machine's root.
func boot(s *Spec) error {
	if err := unix.Sethostname([]byte(s.Hostname)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	if err := configureNetwork(*s); err != nil {
		return err
	}
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	s.Binds = append([]Bind{{From: self, To: machinedPath, ReadOnly: true}}, s.Binds...)
	return enterRoot(*s)
}

// readSpec reads the spec from its inherited descriptor.
func readSpec() (Spec, []byte, error) {
	var s Spec
	raw, err := io.ReadAll(os.NewFile(specFD, "spec"))
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return s, nil, fmt.Errorf("read the machine's spec: %w", err)
	}
	return s, raw, nil
}

// pipeWith returns the read end of a pipe that holds content.
func pipeWith(content []byte) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = w.Write(content)
		w.Close()
	}()
	return r, nil
}

// configureNetwork sets up the loopback interface, eth0 and the default route.
func configureNetwork(s Spec) error {
	var loopback []string
	if s.Metadata.InstanceID != "" {
		loopback = []string{MetadataAddress + "/32"}
	}
	if _, err := SetUpLink("lo", loopback...); err != nil {
		return err
	}
	eth, err := SetUpLink(guestInterface, s.Addresses...)
	if err != nil || s.Gateway == "" {
		return err
	}
	if err := netlink.RouteAdd(&netlink.Route{LinkIndex: eth.Attrs().Index, Gw: net.ParseIP(s.Gateway)}); err != nil {
		return fmt.Errorf("add default route via %s: %w", s.Gateway, err)
	}
	return nil
}

// SetUpLink gives a network interface its addresses (CIDR form) and sets it up.
func SetUpLink(name string, addresses ...string) (netlink.Link, error) {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("network interface %s: %w", name, err)
	}
	for _, a := range addresses {
		addr, err := netlink.ParseAddr(a)
		if err == nil {
			err = netlink.AddrAdd(link, addr)
		}
		if err != nil {
			return nil, fmt.Errorf("network interface %s: add address %q: %w", name, a, err)
		}
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return nil, fmt.Errorf("network interface %s: set up: %w", name, err)
	}
	return link, nil
}

// Init is the init of a process namespace: it runs argv, reaps orphaned processes,
// and fails if argv exits with an error. argv inherits that many descriptors, from 3
// on.
func Init(argv []string, inherited int) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	files := make([]*os.File, inherited)
	for i := range files {
		files[i] = os.NewFile(uintptr(3+i), "inherited")
	}
	return initProcess(argv, files)
}

// initProcess runs argv with the files as descriptors from 3 on, forwards signals to
// it, and reaps orphaned processes until it exits.
func initProcess(argv []string, files []*os.File) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = files
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	for _, f := range files {
		f.Close()
	}
	for sig := range signals {
		if sig != syscall.SIGCHLD {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			continue
		}
		for {
			var status syscall.WaitStatus
			pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
			if pid <= 0 || err != nil {
				break
			}
			if pid == cmd.Process.Pid {
				if status.Exited() && status.ExitStatus() == 0 {
					return nil
				}
				return fmt.Errorf("%s ended: %v", argv[0], status)
			}
		}
	}
	return nil
}

// RunAgent runs the agent of a booted machine until it is terminated.
func RunAgent() error {
	s, _, err := readSpec()
	if err != nil {
		return err
	}
	if err := runAgent(s); err != nil {
		return fmt.Errorf("run the agent of %s: %w", s.Name, err)
	}
	return nil
}

func runAgent(s Spec) error {
	l, err := net.FileListener(os.NewFile(listenFD, "listener"))
	if err != nil {
		return fmt.Errorf("open its socket: %w", err)
	}
	a := NewAgent(s)
	_ = os.Remove(shimSocket)
	shims, err := net.ListenUnix("unix", &net.UnixAddr{Name: shimSocket, Net: "unix"})
	if err != nil {
		return err
	}
	// Any account may connect: the agent reads the caller's uid from the socket.
	if err := os.Chmod(shimSocket, 0o666); err != nil {
		return err
	}
	go a.ServeShims(shims)
	if s.Metadata.InstanceID != "" {
		if err := serveMetadata(s); err != nil {
			return err
		}
	}
	server := &http.Server{Handler: a.Handler(), ReadHeaderTimeout: 5 * time.Second}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
