package region

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// listenersEnv names the listening sockets that a spawned region inherits, as
// "name=descriptor,…".
const listenersEnv = "OBSERVATORY_REGION_LISTENERS"

// upWord is what is written on that pipe.
const upWord = "up"

// readyName is the inherited pipe on which a region says that it is up.
const readyName = "ready"

// firstDescriptor is where inherited files begin.
const firstDescriptor = 3

// Spawn starts argv as the region's process in fresh namespaces and returns
// its process id on the host. Listeners are passed on under their names; the
// child finds them with Inherited. Spawn returns when the child calls Ready,
// or with what it wrote to log if it ends before.
//
// As root the region keeps the host's ids, so that accounts differ; otherwise
// it is root of a user namespace of its own and every account is the caller.
func Spawn(machined string, argv []string, listeners map[string]net.Listener, log *os.File, wait time.Duration) (int, error) {
	readyR, readyW, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer readyR.Close()
	names, files := []string{readyName}, []*os.File{readyW}
	for name, l := range listeners {
		t, ok := l.(*net.TCPListener)
		if !ok {
			return 0, fmt.Errorf("listener %s is not TCP", name)
		}
		f, err := t.File()
		if err != nil {
			return 0, err
		}
		defer f.Close()
		names, files = append(names, name), append(files, f)
	}
	pairs := make([]string, len(names))
	for i, n := range names {
		pairs[i] = n + "=" + strconv.Itoa(firstDescriptor+i)
	}
	cmd := exec.Command(machined, append([]string{"init", strconv.Itoa(len(files))}, argv...)...) //nolint:gosec // our own binaries
	cmd.Env = append(os.Environ(), listenersEnv+"="+strings.Join(pairs, ","))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = files
	cmd.SysProcAttr = namespaces()
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("make the region's namespaces (user, mount, process, network): %w", err)
	}
	readyW.Close()
	died := make(chan error, 1)
	go func() { died <- cmd.Wait() }()
	up := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(readyR, make([]byte, len(upWord)))
		if err != nil {
			err = errors.New("the region ended before it was up")
		}
		up <- err
	}()
	select {
	case err := <-up:
		if err != nil {
			<-died
			return 0, fmt.Errorf("%w; its log is %s", err, log.Name())
		}
		return cmd.Process.Pid, nil
	case <-time.After(wait):
		_ = cmd.Process.Kill()
		return 0, fmt.Errorf("the region was not up within %s; its log is %s", wait, log.Name())
	}
}

func namespaces() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
		Setsid:     true,
	}
	if !Privileged() {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

// Privileged tells whether this process may make namespaces and change ids
// without a user namespace: it is root and holds CAP_SYS_ADMIN.
func Privileged() bool {
	if os.Getuid() != 0 {
		return false
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return false
	}
	return data[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// OneUser tells, inside a region, that no second account can be had.
func OneUser() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return true
	}
	f := strings.Fields(string(b))
	return len(f) == 3 && f[2] == "1"
}

// Inherited gives the listeners that Spawn passed on, by name, and a function
// that tells Spawn that the region is up.
func Inherited() (map[string]net.Listener, func() error, error) {
	listeners := map[string]net.Listener{}
	var ready *os.File
	for _, pair := range strings.Split(os.Getenv(listenersEnv), ",") {
		name, fd, ok := strings.Cut(pair, "=")
		if !ok {
			continue
		}
		n, err := strconv.Atoi(fd)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %q: %w", listenersEnv, pair, err)
		}
		f := os.NewFile(uintptr(n), name) //nolint:gosec // a descriptor
		syscall.CloseOnExec(n)
		if name == readyName {
			ready = f
			continue
		}
		l, err := net.FileListener(f)
		if err != nil {
			return nil, nil, fmt.Errorf("inherited listener %s: %w", name, err)
		}
		f.Close()
		listeners[name] = l
	}
	if ready == nil {
		return nil, nil, fmt.Errorf("%s is not set: this command is started by `observatory up`", listenersEnv)
	}
	return listeners, func() error {
		defer ready.Close()
		_, err := ready.WriteString(upWord)
		return err
	}, nil
}
