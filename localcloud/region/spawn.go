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

	"github.com/emr-observatory/emr-observatory/localcloud/loopback"
)

// listenersEnv names the listening sockets that a spawned region inherits, as
// "name=descriptor,…".
const listenersEnv = "OBSERVATORY_REGION_LISTENERS"

// userEnv names the user of the host who may connect to the listeners, and tableName is the prefix
// of the tables of sockets that tell users apart (loopback.Sockets).
const (
	userEnv   = "OBSERVATORY_REGION_USER"
	tableName = "sockets"
)

// readyName is the inherited pipe to which a region writes upWord once it is up.
const (
	readyName = "ready"
	upWord    = "up"
)

// firstDescriptor is the file descriptor of the first inherited file.
const firstDescriptor = 3

// machineNamespaces are the namespaces that each machine has for itself.
const machineNamespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC

// Spawn starts argv as the region's process in new namespaces and returns its
// process id on the host. The process inherits the listeners; Inherited returns
// them by name. Spawn returns once the process reports that it is up, and fails if
// it exits earlier or is not up within wait. The process writes to log.
//
// As root the region keeps the host's uids, so that accounts differ. Otherwise
// it gets a user namespace that maps uid 0 to the caller's and no other.
func Spawn(machined string, argv []string, listeners map[string]net.Listener, log *os.File, wait time.Duration) (int, error) {
	readyR, readyW, err := os.Pipe()
	if err != nil {
		return 0, fmt.Errorf("start the region: %w", err)
	}
	defer readyR.Close()
	defer readyW.Close()
	files, names, err := listenerFiles(listeners)
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if err != nil {
		return 0, err
	}
	tables, err := loopback.Sockets()
	if err != nil {
		return 0, fmt.Errorf("start the region: %w", err)
	}
	for i, table := range tables {
		files, names = append(files, table), append(names, tableName+strconv.Itoa(i))
	}
	files, names = append(files, readyW), append(names, readyName)
	for i := range names {
		names[i] += "=" + strconv.Itoa(firstDescriptor+i)
	}
	cmd := exec.Command(machined, append([]string{"init", strconv.Itoa(len(files))}, argv...)...)
	cmd.Env = append(os.Environ(), listenersEnv+"="+strings.Join(names, ","), userEnv+"="+strconv.Itoa(os.Getuid()))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = files
	cmd.SysProcAttr = namespaceAttributes()
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("create the region's namespaces (user, mount, process, network): %w", err)
	}
	readyW.Close()
	if err := awaitUp(cmd, readyR, wait); err != nil {
		return 0, fmt.Errorf("%w; its log is %s", err, log.Name())
	}
	return cmd.Process.Pid, nil
}

// listenerFiles returns the files of listeners, for a child to inherit, and their
// names.
func listenerFiles(listeners map[string]net.Listener) (files []*os.File, names []string, err error) {
	for name, l := range listeners {
		t, ok := l.(*net.TCPListener)
		if !ok {
			return files, names, fmt.Errorf("listener %s is not TCP", name)
		}
		f, err := t.File()
		if err != nil {
			return files, names, fmt.Errorf("pass listener %s on: %w", name, err)
		}
		files, names = append(files, f), append(names, name)
	}
	return files, names, nil
}

// awaitUp waits until the region reports that it is up. It kills the region if that
// takes longer than wait.
func awaitUp(cmd *exec.Cmd, ready io.Reader, wait time.Duration) error {
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	up := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(ready, make([]byte, len(upWord)))
		up <- err
	}()
	select {
	case err := <-up:
		if err != nil {
			<-exited
			return errors.New("the region exited before it was up")
		}
		return nil
	case <-time.After(wait):
		_ = cmd.Process.Kill()
		return fmt.Errorf("the region was not up within %s", wait)
	}
}

// namespaceAttributes returns the attributes of a process in new namespaces;
// without root, also a user namespace with a single uid.
func namespaceAttributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: machineNamespaces, Setsid: true}
	if !Privileged() {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

// Privileged reports whether this process may create namespaces and change uids
// without a user namespace: it is root and holds CAP_SYS_ADMIN.
func Privileged() bool {
	if os.Getuid() != 0 {
		return false
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&hdr, &data[0])
	return err == nil && data[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// SingleUID reports whether the user namespace of this process, a region's, maps
// one uid only.
func SingleUID() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return true
	}
	f := strings.Fields(string(b))
	return len(f) == 3 && f[2] == "1"
}

// Inherited returns the listeners that Spawn passed on, by name, and reportUp, which
// reports to Spawn that the region is up. The listeners accept the user who called Spawn, and
// requests to this machine (package loopback).
func Inherited() (listeners map[string]net.Listener, reportUp func() error, err error) {
	listeners = map[string]net.Listener{}
	var ready *os.File
	var tables []*os.File
	for _, pair := range strings.Split(os.Getenv(listenersEnv), ",") {
		name, fd, ok := strings.Cut(pair, "=")
		if !ok {
			continue
		}
		n, err := strconv.Atoi(fd)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %q: %w", listenersEnv, pair, err)
		}
		f := os.NewFile(uintptr(n), name)
		syscall.CloseOnExec(n)
		if name == readyName {
			ready = f
			continue
		}
		if strings.HasPrefix(name, tableName) {
			tables = append(tables, f)
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
	user, err := strconv.Atoi(os.Getenv(userEnv))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %q: must be the id of a user", userEnv, os.Getenv(userEnv))
	}
	guard := loopback.New(user, tables)
	for name, l := range listeners {
		listeners[name] = guard.Listen(l)
	}
	return listeners, func() error {
		defer ready.Close()
		if _, err := ready.WriteString(upWord); err != nil {
			return fmt.Errorf("report that the region is up: %w", err)
		}
		return nil
	}, nil
}
