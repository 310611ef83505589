package machine

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
)

// stopTimeout is the time between SIGTERM and SIGKILL of a unit's main process.
const stopTimeout = 15 * time.Second

// StartUnit starts a unit and returns once its main process runs; for a oneshot
// unit, once it has exited. An active unit is left alone.
func (a *Agent) StartUnit(ctx context.Context, name string) error {
	return a.startUnit(ctx, UnitStart{Name: name})
}

func (a *Agent) startUnit(ctx context.Context, u UnitStart) error {
	s, err := loadUnit(u.Name)
	if err != nil {
		return err
	}
	s.startEnv = u.Env
	a.mu.Lock()
	if old := a.units[s.name]; old != nil && old.state().Active {
		a.mu.Unlock()
		return nil
	}
	run, cancel := context.WithCancel(context.Background())
	s.cancel, s.done = cancel, make(chan struct{})
	a.units[s.name] = s
	a.mu.Unlock()
	started := make(chan error, 1)
	go a.supervise(run, s, started)
	select {
	case err := <-started:
		if err != nil {
			return fmt.Errorf("start %s: %w", s.name, err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("start %s: %w", s.name, ctx.Err())
	}
}

// supervise runs a unit and restarts it according to its Restart=. It sends the
// outcome of the first start to started.
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
		s.setExited(err)
		if first != nil {
			first <- err
			first = nil
			if err != nil && s.restart == "no" || s.oneshot {
				return
			}
		}
		restart := s.restart == "always" || (s.restart == "on-failure" && err != nil)
		if ctx.Err() != nil || !restart {
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

// runOnce runs a unit's commands until its main process exits. It calls started once
// that process runs.
func (a *Agent) runOnce(ctx context.Context, s *service, started func()) error {
	env, err := s.environment()
	if err != nil {
		return err
	}
	before := s.pre
	if s.oneshot {
		before = append(append([][]string{}, s.pre...), s.start...)
	}
	for _, argv := range before {
		if err := a.runAuxiliary(ctx, s, env, argv); err != nil {
			return err
		}
	}
	if s.oneshot {
		return nil
	}
	cmd, err := a.command(ctx, Exec{Argv: s.start[0], Env: env, Dir: s.dir, User: s.user})
	if err != nil {
		return err
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	closeLogs, err := a.openLogs(s, cmd)
	if err != nil {
		return err
	}
	defer closeLogs()
	if err := cmd.Start(); err != nil {
		return err
	}
	s.setRunning(cmd.Process.Pid)
	go a.runPost(ctx, s, env, cmd.Stdout)
	started()
	err = cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the process's children
	return err
}

// openLogs redirects a main process's output to the files that its unit names, or to
// a file in place of the journal.
func (a *Agent) openLogs(s *service, cmd *exec.Cmd) (closeAll func(), err error) {
	out := s.stdout
	if out == "" || out == "journal" || out == "inherit" {
		out = filepath.Join("/var/log/journal", s.name+".log")
	}
	log, err := a.openLog(out, cmd)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = log, log
	if s.stderr == out || !strings.HasPrefix(s.stderr, "/") {
		return func() { log.Close() }, nil
	}
	errLog, err := a.openLog(s.stderr, cmd)
	if err != nil {
		log.Close()
		return nil, err
	}
	cmd.Stderr = errLog
	return func() { log.Close(); errLog.Close() }, nil
}

// runPost runs the ExecStartPost= commands while the main process runs.
func (a *Agent) runPost(ctx context.Context, s *service, env map[string]string, log io.Writer) {
	for _, argv := range s.post {
		if err := a.runAuxiliary(ctx, s, env, argv); err != nil {
			fmt.Fprintf(log, "%s: ExecStartPost: %v\n", s.name, err)
		}
	}
}

// runAuxiliary runs an ExecStartPre= or ExecStartPost= command, or that of a oneshot
// unit, to its end. It ignores the failure of a command with a leading "-".
func (a *Agent) runAuxiliary(ctx context.Context, s *service, env map[string]string, argv []string) error {
	ignore := strings.HasPrefix(argv[0], "-")
	argv = append([]string{strings.TrimLeft(argv[0], "-+!@")}, argv[1:]...)
	res, err := a.Run(ctx, Exec{Argv: argv, Env: env, Dir: s.dir, User: s.user})
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("%s ended with %d: %s", argv[0], res.ExitCode, res.Tail)
	}
	if ignore {
		return nil
	}
	return err
}

// StopUnit stops a unit: SIGTERM, then SIGKILL after stopTimeout.
func (a *Agent) StopUnit(ctx context.Context, name string) error {
	name = unitFileName(name)
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

// Units lists every unit that was started here, by name.
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

func (s *service) setRunning(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pid, s.active, s.result = pid, true, ""
}

func (s *service) setExited(err error) {
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
