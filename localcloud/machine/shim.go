package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// shimSocket is where a machine's sudo and systemctl reach its agent.
const shimSocket = "/run/machined.sock"

// AdminGroup is the group whose members may use sudo without a password, as the
// account hadoop may on a node.
const AdminGroup = "wheel"

type shimRequest struct {
	Program string // sudo or systemctl
	Args    []string
	Env     map[string]string
	Dir     string
}

// Shim is the client side of sudo and systemctl: it passes its standard streams
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
		return 0, fmt.Errorf("the machine's agent returned no exit code: %w", err)
	}
	return code, nil
}

// ServeShims serves sudo and systemctl until l is closed.
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

// serveShim runs one sudo or systemctl with the client's standard streams, and
// returns the exit code.
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
	uid, err := peerUID(conn)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // when the client is killed, so is its program
		_, _ = io.Copy(io.Discard, conn)
		cancel()
	}()
	if req.Program == "systemctl" {
		return a.systemctl(ctx, uid, req.Args, files[1], files[2]), nil
	}
	return a.sudo(ctx, uid, req, files), nil
}

// receiveFiles receives the client's three standard streams.
func receiveFiles(conn *net.UnixConn) ([]*os.File, error) {
	oob := make([]byte, unix.CmsgSpace(3*4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return nil, err
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(msgs) == 0 {
		return nil, errors.New("no standard streams passed")
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 3 {
		return nil, errors.New("standard streams: must be three")
	}
	files := make([]*os.File, 3)
	for i, fd := range fds {
		files[i] = os.NewFile(uintptr(fd), "stream")
	}
	return files, nil
}

// peerUID returns the uid of the process at the other end.
func peerUID(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(err, credErr); err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// sudo runs a program as root or, with -u, as another account.
func (a *Agent) sudo(ctx context.Context, uid int, req shimRequest, files []*os.File) int {
	if !a.maySudo(uid) {
		fmt.Fprintln(files[2], "sudo: a password is required")
		return 1
	}
	e := sudoExec(req)
	if len(e.Argv) == 0 {
		fmt.Fprintln(files[2], "usage: sudo [-u USER] [-E] [NAME=VALUE…] PROGRAM [ARG…]")
		return 1
	}
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

// sudoExec parses sudo's command line.
func sudoExec(req shimRequest) Exec {
	e := Exec{Dir: req.Dir, Env: map[string]string{}}
	args := req.Args
options:
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		option := args[0]
		args = args[1:]
		switch {
		case option == "--":
			break options
		case option == "-E":
			e.Env = req.Env
		case option == "-u" && len(args) > 0:
			e.User, args = args[0], args[1:]
		}
	}
	for len(args) > 0 && strings.Contains(args[0], "=") && !strings.Contains(args[0], "/") {
		k, v, _ := strings.Cut(args[0], "=")
		e.Env[k], args = v, args[1:]
	}
	e.Argv = args
	return e
}

// maySudo reports whether the account with a uid may use sudo.
func (a *Agent) maySudo(uid int) bool {
	return uid == 0 || slices.ContainsFunc(a.spec.Users, func(u User) bool {
		return u.UID == uid && slices.Contains(u.Groups, AdminGroup)
	})
}
