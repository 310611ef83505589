package machine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/unit"
)

// unitDir is where units are looked for, as on a node.
const unitDir = "/etc/systemd/system"

// service is the part of a unit file that a machine carries out. Hardening and
// resource limits are read by systemd on a real node; here they are ignored,
// since namespaces within namespaces are not to be had everywhere.
type service struct {
	name                       string
	pre, start, post, stopPost [][]string
	user, dir                  string
	env                        map[string]string
	envFiles                   []string
	restart                    string
	restartDelay               time.Duration
	oneshot                    bool
	stdout, stderr             string
	cancel                     context.CancelFunc
	done                       chan struct{}
	mu                         sync.Mutex
	pid, restarts              int
	active                     bool
	result                     string
}

// loadUnit reads a unit file.
func loadUnit(name string) (*service, error) {
	if !strings.Contains(name, ".") {
		name += ".service"
	}
	f, err := os.Open(filepath.Join(unitDir, name))
	if err != nil {
		return nil, fmt.Errorf("unit %s could not be found", name)
	}
	defer f.Close()
	opts, err := unit.Deserialize(f)
	if err != nil {
		return nil, fmt.Errorf("unit %s: %w", name, err)
	}
	s := &service{name: name, env: map[string]string{}, restart: "no", restartDelay: 100 * time.Millisecond}
	for _, o := range opts {
		if o.Section == "Service" {
			if err := s.set(o.Name, o.Value); err != nil {
				return nil, fmt.Errorf("unit %s: %s: %w", name, o.Name, err)
			}
		}
	}
	if len(s.start) == 0 {
		return nil, fmt.Errorf("unit %s has no ExecStart", name)
	}
	return s, nil
}

func (s *service) set(key, value string) error {
	switch key {
	case "ExecStartPre", "ExecStart", "ExecStartPost", "ExecStopPost":
		argv, err := splitWords(value)
		if err != nil || len(argv) == 0 {
			return fmt.Errorf("cannot read %q", value)
		}
		list := map[string]*[][]string{"ExecStartPre": &s.pre, "ExecStart": &s.start, "ExecStartPost": &s.post, "ExecStopPost": &s.stopPost}[key]
		*list = append(*list, argv)
	case "User":
		s.user = value
	case "WorkingDirectory":
		s.dir = value
	case "Type":
		s.oneshot = value == "oneshot"
	case "Restart":
		s.restart = value
	case "RestartSec":
		d, err := seconds(value)
		s.restartDelay = d
		return err
	case "EnvironmentFile":
		s.envFiles = append(s.envFiles, value)
	case "Environment":
		words, err := splitWords(value)
		if err != nil {
			return err
		}
		for _, w := range words {
			k, v, _ := strings.Cut(w, "=")
			s.env[k] = v
		}
	case "StandardOutput":
		s.stdout = strings.TrimPrefix(strings.TrimPrefix(value, "append:"), "file:")
	case "StandardError":
		s.stderr = strings.TrimPrefix(strings.TrimPrefix(value, "append:"), "file:")
	}
	return nil
}

func seconds(v string) (time.Duration, error) {
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		return time.Duration(n * float64(time.Second)), nil
	}
	return time.ParseDuration(v)
}

// splitWords splits as systemd does: blanks separate, quotes keep together.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	in := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, in = r, true
		case r == ' ' || r == '\t':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("unclosed %c", quote)
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

// environment is the unit's own variables, its files' over the inline ones.
func (s *service) environment() (map[string]string, error) {
	env := map[string]string{}
	for k, v := range s.env {
		env[k] = v
	}
	for _, path := range s.envFiles {
		optional := strings.HasPrefix(path, "-")
		f, err := os.Open(strings.TrimPrefix(path, "-"))
		if err != nil {
			if optional && errors.Is(err, os.ErrNotExist) {
				continue
			}
			return nil, err
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			line := strings.TrimSpace(lines.Text())
			if k, v, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
				env[k] = strings.Trim(v, `"'`)
			}
		}
		f.Close()
	}
	return env, nil
}

// StartUnit starts a unit and returns once its main program runs (oneshot:
// once it has ended). A unit that runs already is left alone.
func (a *Agent) StartUnit(ctx context.Context, name string) error {
	s, err := loadUnit(name)
	if err != nil {
		return err
	}
	a.mu.Lock()
	if old := a.units[s.name]; old != nil && old.state().Active {
		a.mu.Unlock()
		return nil
	}
	run, cancel := context.WithCancel(context.Background()) //nolint:gosec // ends with the unit
	s.cancel, s.done = cancel, make(chan struct{})
	a.units[s.name] = s
	a.mu.Unlock()
	started := make(chan error, 1)
	go a.supervise(run, s, started)
	select {
	case err := <-started:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// supervise keeps a unit running as its Restart= says.
func (a *Agent) supervise(ctx context.Context, s *service, started chan<- error) {
	defer close(s.done)
	first := started
	for {
		err := a.runOnce(ctx, s, func() {
			if first != nil {
				first <- nil
				first = nil
			}
		})
		s.ended(err)
		if first != nil {
			first <- err
			first = nil
			if err != nil && s.restart == "no" || s.oneshot {
				return
			}
		}
		again := s.restart == "always" || (s.restart == "on-failure" && err != nil)
		if ctx.Err() != nil || !again {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.restartDelay):
		}
		s.mu.Lock()
		s.restarts++
		s.mu.Unlock()
	}
}

func (a *Agent) runOnce(ctx context.Context, s *service, up func()) error {
	env, err := s.environment()
	if err != nil {
		return err
	}
	for _, argv := range s.pre {
		if err := a.step(ctx, s, env, argv); err != nil {
			return err
		}
	}
	if s.oneshot {
		for _, argv := range s.start {
			if err := a.step(ctx, s, env, argv); err != nil {
				return err
			}
		}
		return nil
	}
	cmd, err := a.command(ctx, Exec{Argv: s.start[0], Env: env, Dir: s.dir, User: s.user})
	if err != nil {
		return err
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	out := s.stdout
	if out == "" || out == "journal" || out == "inherit" {
		out = filepath.Join("/var/log/journal", s.name+".log")
	}
	log, err := a.openLog(out, cmd)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if s.stderr != "" && s.stderr != out && strings.HasPrefix(s.stderr, "/") {
		errLog, err := a.openLog(s.stderr, cmd)
		if err != nil {
			return err
		}
		defer errLog.Close()
		cmd.Stderr = errLog
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.running(cmd.Process.Pid)
	go func() {
		for _, argv := range s.post {
			if err := a.step(ctx, s, env, argv); err != nil {
				fmt.Fprintf(log, "%s: ExecStartPost: %v\n", s.name, err)
			}
		}
	}()
	up()
	err = cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	return err
}

// step runs one of a unit's auxiliary programs; a leading "-" forgives failure.
func (a *Agent) step(ctx context.Context, s *service, env map[string]string, argv []string) error {
	forgive := strings.HasPrefix(argv[0], "-")
	argv = append([]string{strings.TrimLeft(argv[0], "-+!@")}, argv[1:]...)
	res, err := a.Run(ctx, Exec{Argv: argv, Env: env, Dir: s.dir, User: s.user})
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("%s ended with %d: %s", argv[0], res.ExitCode, res.Tail)
	}
	if forgive {
		return nil
	}
	return err
}

// StopUnit ends a unit: SIGTERM, then SIGKILL after 15 s.
func (a *Agent) StopUnit(ctx context.Context, name string) error {
	if !strings.Contains(name, ".") {
		name += ".service"
	}
	a.mu.Lock()
	s := a.units[name]
	a.mu.Unlock()
	if s == nil {
		return nil
	}
	s.cancel()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", name, ctx.Err())
	}
}

// Units lists what was ever started here, by name.
func (a *Agent) Units() []Unit {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]Unit, 0, len(a.units))
	for _, s := range a.units {
		list = append(list, s.state())
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

func (s *service) running(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pid, s.active, s.result = pid, true, ""
}

func (s *service) ended(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pid, s.active, s.result = 0, s.oneshot && err == nil, "success"
	if err != nil {
		s.result = err.Error()
	}
}

func (s *service) state() Unit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Unit{Name: s.name, Active: s.active, PID: s.pid, Restarts: s.restarts, Result: s.result}
}
