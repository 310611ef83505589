package machine

import (
	"context"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
)

// StartUnit starts a unit and returns once its main program runs (oneshot:
// once it has ended). A unit that runs already is left alone.
func (a *Agent) StartUnit(ctx context.Context, name string) error {
	return a.startUnit(ctx, UnitStart{Name: name})
}

func (a *Agent) startUnit(ctx context.Context, u UnitStart) error {
	s, err := loadUnit(u.Name)
	if err != nil {
		return err
	}
	s.given = u.Env
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
		case <-time.After(s.delay()):
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
