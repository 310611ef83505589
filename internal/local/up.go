package local

import (
	"context"
	"time"

	"github.com/emr-observatory/emr-observatory/internal/engine"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/schema"
	"github.com/emr-observatory/emr-observatory/toolchain/servers"
)

// UpOptions says how to bring the platform up.
type UpOptions struct {
	Programs Programs
	Config   []string // key=value, overrides the stack's file in this run
	Accepted []string // logical names of resources that may be lost
	Job      bool     // run the example job

	// See localcloud.Options; of a cloud that this run starts.
	LogDelay, EventLogInterval time.Duration
}

// Up brings the platform up. It may be run again at any time, also after it was
// killed.
func (p Platform) Up(ctx context.Context, o UpOptions, log *progress.Log) (Result, error) {
	r := Result{Stack: p.Stack, Seconds: map[string]float64{}}
	lock, err := lockAfterRecovery(ctx, p.State, log)
	if err != nil {
		return r, err
	}
	defer func() { _ = lock.Unlock() }()
	cfg, err := p.Config(o.Config)
	if err != nil {
		return r, err
	}
	s, err := p.open(ctx, o, cfg, log, &r)
	if err != nil {
		return r, err
	}
	if err := s.update(ctx, o, cfg.Ephemeral, &r); err != nil {
		return r, err
	}
	page := Services(false)[0]
	log.Printf("open %s%s", s.running.URL(page.Name), page.Path) // before the job, which may fail
	if o.Job {
		start := time.Now()
		if r.Job, err = s.runJob(ctx); err != nil {
			return r, err
		}
		r.addSeconds("job", start)
	}
	return r, s.addOverview(ctx, &r)
}

// open builds the tools, starts the cloud and opens the stack on it.
func (p Platform) open(ctx context.Context, o UpOptions, cfg schema.Config, log *progress.Log, r *Result) (*session, error) {
	start := time.Now()
	tools, err := BuildTools(ctx, log, cfg.Architectures)
	if err != nil {
		return nil, err
	}
	r.addSeconds("materials", start)
	start = time.Now()
	running, err := p.start(ctx, o, tools)
	if err != nil {
		return nil, err
	}
	log.Printf("local cloud is up (process %d, state %s)", running.PID, p.State)
	r.addSeconds("cloud", start)
	if err := localcloud.WriteProfile(p.State, o.Programs.Observatory); err != nil {
		return nil, err
	}
	r.Profile = localcloud.ProfileFile(p.State)
	e, err := engine.Open(ctx, p.engineOptions(tools.Servers[servers.Pulumi], running))
	if err != nil {
		return nil, err
	}
	aws, err := AWSConfig(ctx) // after the engine has set the environment
	return &session{running: running, engine: e, aws: aws, log: log}, err
}
