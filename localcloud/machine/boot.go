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
	"strings"
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

// guestInterface is the machine's end of its virtual cable.
const guestInterface = "eth0"

// machinedPath is machined inside a machine.
const machinedPath = hostDir + "/machined"

// Boot is the machine's init: it takes the spec, configures network, host name
// and root, starts the agent, and reaps whatever is orphaned. It returns when
// the agent ends; the kernel then ends everything else in the machine.
func Boot() error {
	raw, err := io.ReadAll(os.NewFile(specFD, "spec"))
	if err != nil {
		return err
	}
	var s Spec
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("read machine spec: %w", err)
	}
	if err := unix.Sethostname([]byte(s.Hostname)); err != nil {
		return fmt.Errorf("set host name: %w", err)
	}
	if err := configureNetwork(s); err != nil {
		return err
	}
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	s.Binds = append([]Bind{{From: self, To: machinedPath, ReadOnly: true}}, s.Binds...)
	if err := enterRoot(s); err != nil {
		return err
	}
	return initProcess([]string{machinedPath, "agent"}, []*os.File{pipeWith(raw), os.NewFile(listenFD, "listener")})
}

// pipeWith gives a file that reads as b.
func pipeWith(b []byte) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	go func() {
		_, _ = w.Write(b)
		w.Close()
	}()
	return r
}

func configureNetwork(s Spec) error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	if s.Metadata.InstanceID != "" {
		addr, err := netlink.ParseAddr(MetadataAddress + "/32")
		if err != nil {
			return err
		}
		if err := netlink.AddrAdd(lo, addr); err != nil {
			return fmt.Errorf("metadata address: %w", err)
		}
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return err
	}
	eth, err := netlink.LinkByName(guestInterface)
	if err != nil {
		return fmt.Errorf("%s: %w", guestInterface, err)
	}
	for _, a := range s.Addresses {
		addr, err := netlink.ParseAddr(a)
		if err != nil {
			return fmt.Errorf("address %q: %w", a, err)
		}
		if err := netlink.AddrAdd(eth, addr); err != nil {
			return fmt.Errorf("address %s: %w", a, err)
		}
	}
	if err := netlink.LinkSetUp(eth); err != nil {
		return err
	}
	if s.Gateway == "" {
		return nil
	}
	if err := netlink.RouteAdd(&netlink.Route{LinkIndex: eth.Attrs().Index, Gw: net.ParseIP(s.Gateway)}); err != nil {
		return fmt.Errorf("default route by %s: %w", s.Gateway, err)
	}
	return nil
}

// Init runs argv as the init of a process namespace: it reaps orphans and
// returns argv's exit as an error. Descriptors from 3 up are passed on.
func Init(argv []string, inherited int) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	files := make([]*os.File, inherited)
	for i := range files {
		files[i] = os.NewFile(uintptr(3+i), "inherited") //nolint:gosec // a descriptor
	}
	return initProcess(argv, files)
}

func initProcess(argv []string, files []*os.File) error {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec // its own agent, or the region
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = files
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	if err := cmd.Start(); err != nil {
		return err
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

// RunAgent is the agent's process inside a booted machine.
func RunAgent() error {
	raw, err := io.ReadAll(os.NewFile(3, "spec"))
	if err != nil {
		return err
	}
	var s Spec
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	l, err := net.FileListener(os.NewFile(4, "listener"))
	if err != nil {
		return fmt.Errorf("agent socket: %w", err)
	}
	a := NewAgent(s)
	_ = os.Remove(shimSocket)
	shims, err := net.ListenUnix("unix", &net.UnixAddr{Name: shimSocket, Net: "unix"})
	if err != nil {
		return err
	}
	if err := os.Chmod(shimSocket, 0o666); err != nil { //nolint:gosec // callers are told apart by their credentials
		return err
	}
	go a.ServeShims(shims)
	if s.Metadata.InstanceID != "" {
		meta, err := net.Listen("tcp", MetadataAddress+":80")
		if err != nil {
			return fmt.Errorf("metadata service: %w", err)
		}
		address, _, _ := strings.Cut(s.Addresses[0], "/")
		svc := &metadataService{meta: s.Metadata, hostname: s.Hostname, domain: s.Domain, address: address, tokens: map[string]time.Time{}}
		go func() { _ = (&http.Server{Handler: svc, ReadHeaderTimeout: 5 * time.Second}).Serve(meta) }()
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
