package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// maxTailBytes is the maximum length of ExecResult.Tail.
const maxTailBytes = 8 << 10

// defaultPath is the PATH of a node's non-interactive shells.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// command prepares a program to run as e.User, in a process group of its own so
// that it can be killed with its children.
func (a *Agent) command(ctx context.Context, e Exec) (*exec.Cmd, error) {
	if len(e.Argv) == 0 {
		return nil, errors.New("argv is empty")
	}
	env := map[string]string{"PATH": defaultPath, "LANG": "C.UTF-8"}
	maps.Copy(env, a.spec.Env)
	user, err := a.lookupUser(e.User)
	if err != nil {
		return nil, err
	}
	env["HOME"], env["USER"], env["LOGNAME"] = user.Home, user.Name, user.Name
	maps.Copy(env, e.Env)
	path, err := lookPath(e.Argv[0], env["PATH"], e.Dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, e.Argv[1:]...)
	cmd.Args[0] = e.Argv[0]
	cmd.Dir = e.Dir
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if !a.spec.SingleUID {
		cmd.SysProcAttr.Credential = a.credential(user)
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd, nil
}

// lookupUser returns an account. The empty name is root; uid:gid (a pod's runAsUser
// and runAsGroup) needs no account.
func (a *Agent) lookupUser(name string) (User, error) {
	if name == "" || name == "root" {
		return User{Name: "root", Home: "/root"}, nil
	}
	for _, u := range a.spec.Users {
		if u.Name == name {
			return u, nil
		}
	}
	var uid, gid int
	if _, err := fmt.Sscanf(name, "%d:%d", &uid, &gid); err == nil {
		return User{Name: name, UID: uid, GID: gid, Home: "/"}, nil
	}
	return User{}, fmt.Errorf("no account %q on %s", name, a.spec.Name)
}

// credential returns the uid, gid and groups of an account.
func (a *Agent) credential(u User) *syscall.Credential {
	c := &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID)}
	for _, g := range u.Groups {
		for _, o := range a.spec.Users {
			if o.Name == g {
				c.Groups = append(c.Groups, uint32(o.GID))
			}
		}
	}
	return c
}

// lookPath is like exec.LookPath, with the program's own PATH.
func lookPath(name, path, dir string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	for _, d := range filepath.SplitList(path) {
		p := filepath.Join(d, name)
		if info, err := os.Stat(p); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s: not found in %s", name, path)
}

// Run runs a program to its end. It fails only if the program could not be started;
// the result has the program's exit code.
func (a *Agent) Run(ctx context.Context, e Exec) (ExecResult, error) {
	if len(e.Argv) == 0 {
		return ExecResult{}, errors.New("run: argv is empty")
	}
	res, err := a.run(ctx, e)
	if err != nil {
		return res, fmt.Errorf("run %s: %w", e.Argv[0], err)
	}
	return res, nil
}

func (a *Agent) run(ctx context.Context, e Exec) (ExecResult, error) {
	cmd, err := a.command(ctx, e)
	if err != nil {
		return ExecResult{}, err
	}
	tail := &tailBuffer{limit: maxTailBytes}
	cmd.Stdout, cmd.Stderr = tail, tail
	for _, stream := range []struct {
		path string
		set  func(*os.File)
	}{{e.Stdout, func(f *os.File) { cmd.Stdout = f }}, {e.Stderr, func(f *os.File) { cmd.Stderr = f }}} {
		if stream.path == "" {
			continue
		}
		f, err := a.openLog(stream.path, cmd)
		if err != nil {
			return ExecResult{}, err
		}
		defer f.Close()
		stream.set(f)
	}
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return ExecResult{ExitCode: exitCode(exit.ProcessState), Tail: tail.String()}, nil
	case err != nil:
		return ExecResult{}, err
	}
	return ExecResult{Tail: tail.String()}, nil
}

// openLog opens a log file for a program; the program's account owns it.
func (a *Agent) openLog(path string, cmd *exec.Cmd) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if c := cmd.SysProcAttr.Credential; c != nil {
		if err := f.Chown(int(c.Uid), int(c.Gid)); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// exitCode returns a process's exit code, as a shell does: 128+signal if it was
// killed.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// tailBuffer keeps the last limit bytes written to it.
type tailBuffer struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	limit int
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(p)
	if over := t.buf.Len() - t.limit; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
