package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/emr-observatory/emr-observatory/examples/jobs"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
	"github.com/emr-observatory/emr-observatory/submit"
)

func upCommand(s *settings) *cobra.Command {
	var noJob, asJSON bool
	c := &cobra.Command{
		Use: "up", Args: cobra.NoArgs,
		Short: "Build the platform on the local cloud and run one Spark job on it",
		Long: "Builds what is missing, starts the local cloud, brings the stack up with the real engine, runs examples/jobs/orders.py\n" +
			"as an EMR step and tells where to look. It may be run again at any time, also after it was killed. Before anything is built\n" +
			"the stack's file and this machine are checked, as `rehearse` and `doctor` do.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(s.check(), fit(cmd.Context(), s)); err != nil {
				return err
			}
			if !asJSON {
				r, err := up(cmd.Context(), s, !noJob, cmd.OutOrStdout())
				if err == nil {
					r.render(cmd.OutOrStdout())
				}
				return err
			}
			r, err := up(cmd.Context(), s, !noJob, cmd.ErrOrStderr())
			if err == nil {
				err = writeJSON(cmd.OutOrStdout(), r)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON: job, objects in S3, URLs")
	c.Flags().StringArrayVarP(&s.config, "config", "c", nil, "configuration for this run over Pulumi.<stack>.yaml: key=value, a dot between levels (emr.core.count=3); may be repeated")
	c.Flags().StringArrayVar(&s.accepted, "accept", nil, "logical name of a resource that may be lost, as the refusal names it; may be repeated")
	c.Flags().BoolVar(&noJob, "no-job", false, "do not run the job")
	return c
}

// session is a local cloud that is up and the engine on it.
type session struct {
	running   localcloud.Running
	engine    *engine
	ephemeral bool // the stack said that its data may vanish
}

// open starts the local cloud where need be and attaches the engine. It notes
// what that took.
func open(ctx context.Context, s *settings, p *progress, r *upResult) (session, error) {
	var o session
	state, err := s.stateDir()
	if err != nil {
		return o, err
	}
	cfg, err := s.read()
	if err != nil {
		return o, err
	}
	o.ephemeral = cfg.Ephemeral
	begun := time.Now()
	t, err := ready(ctx, p, cfg.EMR.Architectures)
	if err != nil {
		return o, err
	}
	r.took("materials", begun)
	begun = time.Now()
	helper, err := machined()
	if err != nil {
		return o, err
	}
	exe, err := os.Executable()
	if err != nil {
		return o, err
	}
	if err := os.MkdirAll(state, 0o755); err != nil {
		return o, err
	}
	raw, err := json.Marshal(localcloud.Options{State: state, Machined: helper, Applications: t.applications, JavaHome: t.javaHome, Servers: t.servers})
	if err != nil {
		return o, err
	}
	file := filepath.Join(state, "options.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return o, err
	}
	if o.running, err = localcloud.Start(ctx, state, helper, []string{exe, "region", file}); err != nil {
		return o, err
	}
	p.say("local cloud is up (process %d, state %s)", o.running.PID, state)
	r.took("cloud", begun)
	o.engine, err = newEngine(ctx, state, s.stack, t.servers["pulumi"], o.running)
	return o, err
}

// hold takes the state folder for this command; another up or down that works
// on it is told so instead of being disturbed.
func hold(state string) (*flock.Flock, error) {
	if err := os.MkdirAll(state, 0o755); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(state, "command.lock"))
	free, err := lock.TryLock()
	if err == nil && !free {
		err = fmt.Errorf("another observatory command works on %s: wait for it or end it", state)
	}
	return lock, err
}

// holdWhole takes the state folder for an up: what a killed down left is ended
// first.
func holdWhole(ctx context.Context, state string, p *progress) (*flock.Flock, error) {
	lock, err := hold(state)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(ending(state)); err != nil {
		return lock, nil //nolint:nilerr // no down was interrupted
	}
	p.say("an earlier down was interrupted: ending it first")
	if err := endEngines(backendURL(state)); err != nil {
		return nil, err
	}
	if err := remove(ctx, state, lock); err != nil {
		return nil, err
	}
	return hold(state)
}

// up brings the platform up and tells out of it on the way.
func up(ctx context.Context, s *settings, job bool, out io.Writer) (upResult, error) {
	var r upResult
	state, err := s.stateDir()
	if err != nil {
		return r, err
	}
	p := newProgress(out)
	lock, err := holdWhole(ctx, state, p)
	if err != nil {
		return r, err
	}
	defer func() { _ = lock.Unlock() }()
	o, err := open(ctx, s, p, &r)
	if err != nil {
		return r, err
	}
	if err := o.engine.unlock(ctx, p); err != nil {
		return r, err
	}
	if err := o.engine.configure(ctx, s.config); err != nil {
		return r, err
	}
	if o.running.Fresh { // what ran in an earlier cloud may be gone
		if err := o.engine.refresh(ctx); err != nil {
			return r, err
		}
	}
	begun := time.Now()
	if err := o.engine.guard(ctx, o.ephemeral, s.accepted); err != nil {
		return r, err
	}
	r.took("guard", begun)
	begun = time.Now()
	res, err := o.engine.up(ctx, p)
	if err != nil {
		return r, fmt.Errorf("bring up stack %s: %w", s.stack, err)
	}
	r.took("stack", begun)
	have, err := contract(res.Outputs)
	if err != nil {
		return r, err
	}
	if job {
		begun = time.Now()
		if r.Job, err = o.runJob(ctx, have, p); err != nil {
			return r, err
		}
		r.took("job", begun)
	}
	err = o.look(ctx, s.stack, have, &r)
	return r, err
}

// runJob submits the example job and follows it.
func (o session) runJob(ctx context.Context, have outputs.Outputs, p *progress) (*submit.Result, error) {
	dir, err := os.MkdirTemp("", "observatory-job")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "orders.py")
	if err := os.WriteFile(file, jobs.Orders, 0o600); err != nil {
		return nil, err
	}
	cfg, err := awsConfig(ctx)
	if err != nil {
		return nil, err
	}
	p.say("job orders.py on %s", have.EMRClusterID)
	res, err := submit.Submit(ctx, submit.Options{
		AWS: cfg, Cluster: have.EMRClusterID, Bucket: have.DataBucket, Application: file, Args: []string{platform.PrefixLake.URI(have.DataBucket) + "orders"},
		Wait: true, PollInterval: time.Second, LongestPoll: time.Second, OTLPEndpoint: o.running.Addresses[string(platform.WorkloadCollector)], Progress: p.lines(),
	})
	if err != nil {
		return nil, fmt.Errorf("job orders.py: %w", err)
	}
	p.say("job orders.py: %s, trace %s", res.State, res.TraceID)
	return &res, nil
}
