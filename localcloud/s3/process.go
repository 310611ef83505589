package s3

import (
	"os/exec"
	"sync"
	"time"
)

// restartPause is the pause between a process's exit and its restart.
const restartPause = time.Second

// process is a server that is started again whenever it exits, until stop.
type process struct {
	start func() (*exec.Cmd, error)

	mu      sync.Mutex
	cmd     *exec.Cmd     // the running process
	stopped bool          // stop was called
	done    chan struct{} // closed once stop has ended the last process
}

// supervise starts a server.
func supervise(start func() (*exec.Cmd, error)) (*process, error) {
	cmd, err := start()
	if err != nil {
		return nil, err
	}
	p := &process{start: start, cmd: cmd, done: make(chan struct{})}
	go p.run(cmd)
	return p, nil
}

// run restarts the server whenever it exits.
func (p *process) run(cmd *exec.Cmd) {
	defer close(p.done)
	for {
		if cmd != nil {
			_ = cmd.Wait()
		}
		p.mu.Lock()
		stopped := p.stopped
		p.mu.Unlock()
		if stopped {
			return
		}
		time.Sleep(restartPause)
		p.mu.Lock()
		cmd = nil
		if !p.stopped {
			if next, err := p.start(); err == nil {
				p.cmd, cmd = next, next
			}
		}
		p.mu.Unlock()
	}
}

// pid returns the process id; it changes with each restart.
func (p *process) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

// stop kills the server.
func (p *process) stop() {
	p.mu.Lock()
	p.stopped = true
	_ = p.cmd.Process.Kill()
	p.mu.Unlock()
	<-p.done
}
