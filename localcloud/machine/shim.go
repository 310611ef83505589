package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// shimSocket is where sudo and systemctl of a machine reach its agent.
const shimSocket = "/run/machined.sock"

// adminGroup is the group whose members may use sudo without a password, as
// hadoop may on a node.
const adminGroup = "wheel"

type shimRequest struct {
	Program string // sudo or systemctl
	Args    []string
	Env     map[string]string
	Dir     string
}

// Shim is sudo's and systemctl's client side: it hands its own standard streams
// to the agent and returns the exit code.
func Shim(program string, args []string) int {
	code, err := shim(program, args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		return 1
	}
	return code
}

func shim(program string, args []string) (int, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: shimSocket, Net: "unix"})
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	env := map[string]string{}
	for _, kv := range os.Environ() {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	req, err := json.Marshal(shimRequest{Program: program, Args: args, Env: env, Dir: dir})
	if err != nil {
		return 0, err
	}
	if _, _, err := conn.WriteMsgUnix([]byte{0}, unix.UnixRights(0, 1, 2), nil); err != nil {
		return 0, err
	}
	if _, err := conn.Write(append(req, '\n')); err != nil {
		return 0, err
	}
	var code int
	if err := json.NewDecoder(conn).Decode(&code); err != nil {
		return 0, fmt.Errorf("the machine's agent went away: %w", err)
	}
	return code, nil
}

// ServeShims answers sudo and systemctl until l is closed.
func (a *Agent) ServeShims(l *net.UnixListener) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			if code, err := a.serveShim(conn); err == nil {
				_ = json.NewEncoder(conn).Encode(code)
			}
		}()
	}
}

func (a *Agent) serveShim(conn *net.UnixConn) (int, error) {
	files, err := receiveFiles(conn)
	if err != nil {
		return 0, err
	}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	var req shimRequest
	if err := json.NewDecoder(conn).Decode(&req); err != nil {
		return 0, err
	}
	uid, err := peer(conn)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // a killed client ends its program
		_, _ = io.Copy(io.Discard, conn)
		cancel()
	}()
	if req.Program == "systemctl" {
		return a.systemctl(ctx, uid, req.Args, files[1], files[2]), nil
	}
	return a.sudo(ctx, uid, req, files), nil
}

func receiveFiles(conn *net.UnixConn) ([]*os.File, error) {
	oob := make([]byte, unix.CmsgSpace(3*4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return nil, err
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(msgs) == 0 {
		return nil, errors.New("no standard streams were passed")
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 3 {
		return nil, errors.New("three standard streams are needed")
	}
	files := make([]*os.File, 3)
	for i, fd := range fds {
		files[i] = os.NewFile(uintptr(fd), "stream") //nolint:gosec // a descriptor
	}
	return files, nil
}

func peer(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, err
	}
	if credErr != nil {
		return 0, credErr
	}
	return int(cred.Uid), nil
}

// sudo runs a program as root or, with -u, as another account.
func (a *Agent) sudo(ctx context.Context, uid int, req shimRequest, files []*os.File) int {
	if !a.maySudo(uid) {
		fmt.Fprintln(files[2], "sudo: a password is required")
		return 1
	}
	e := Exec{Dir: req.Dir, Env: map[string]string{}}
	args := req.Args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch {
		case args[0] == "-u" && len(args) > 1:
			e.User, args = args[1], args[1:]
		case args[0] == "-E":
			e.Env = req.Env
		case args[0] == "--":
			args = args[1:]
			goto parsed
		}
		args = args[1:]
	}
parsed:
	for len(args) > 0 && strings.Contains(args[0], "=") && !strings.Contains(args[0], "/") {
		k, v, _ := strings.Cut(args[0], "=")
		e.Env[k], args = v, args[1:]
	}
	e.Argv = args
	cmd, err := a.command(ctx, e)
	if err != nil {
		fmt.Fprintln(files[2], "sudo:", err)
		return 1
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[1], files[2]
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(files[2], "sudo:", err)
		return 1
	}
	return exitCode(cmd.ProcessState)
}

func (a *Agent) maySudo(uid int) bool {
	if uid == 0 {
		return true
	}
	for _, u := range a.spec.Users {
		for _, g := range u.Groups {
			if u.UID == uid && g == adminGroup {
				return true
			}
		}
	}
	return false
}

// KillAll ends every process of the machine but its init; used at shutdown.
func KillAll() { _ = syscall.Kill(-1, syscall.SIGKILL) }
