package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/emr-observatory/emr-observatory/examples/jobs"
	"github.com/emr-observatory/emr-observatory/internal/engine"
	"github.com/emr-observatory/emr-observatory/internal/progress"
	"github.com/emr-observatory/emr-observatory/localcloud"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
	"github.com/emr-observatory/emr-observatory/submit"
)

// session is one Up after the local cloud has started.
type session struct {
	running localcloud.Running
	engine  *engine.Engine
	aws     aws.Config
	log     *progress.Log
	outputs outputs.Outputs // set by update
}

// update brings the stack to what the program and its configuration declare.
func (s *session) update(ctx context.Context, o UpOptions, ephemeral bool, r *Result) error {
	if err := s.engine.Unlock(ctx, s.log); err != nil {
		return err
	}
	if err := s.engine.Configure(ctx, o.Config); err != nil {
		return err
	}
	refresh := s.engine.RefreshUnready
	if s.running.Fresh { // the stack's resources may have ended with an earlier cloud
		refresh = s.engine.Refresh
	}
	if err := refresh(ctx); err != nil {
		return err
	}
	start := time.Now()
	if err := s.engine.Guard(ctx, s.aws, ephemeral, o.Accepted); err != nil {
		return err
	}
	r.addSeconds("guard", start)
	start = time.Now()
	var err error
	if s.outputs, err = s.engine.Up(ctx, s.log); err != nil {
		return err
	}
	r.addSeconds("stack", start)
	return nil
}

// PollInterval is how often to read a step's state from the local EMR API, which
// has no rate limit.
const PollInterval = time.Second

// runJob submits the example job to the first cluster and waits for it. It returns a
// result whenever a step was added, also with an error, and none without a cluster.
func (s *session) runJob(ctx context.Context) (*submit.Result, error) {
	dir, err := os.MkdirTemp("", "observatory-job")
	if err != nil {
		return nil, fmt.Errorf("write job orders.py: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "orders.py")
	if err := os.WriteFile(file, jobs.Orders, 0o600); err != nil {
		return nil, fmt.Errorf("write job orders.py: %w", err)
	}
	keys := s.outputs.Running()
	if len(keys) == 0 {
		s.log.Printf("job orders.py: not run, since no cluster of the stack runs")
		return nil, nil
	}
	cluster := s.outputs.Clusters[keys[0]]
	s.log.Printf("job orders.py on %s (%s)", cluster.Name, cluster.ID)
	result, err := submit.Submit(ctx, submit.Options{
		AWS: s.aws, Cluster: cluster.ID, Bucket: s.outputs.DataBucket,
		Application: file, Args: []string{platform.PrefixLake.URI(s.outputs.DataBucket) + "orders"},
		Wait: true, LogWait: submit.LogWait, PollInterval: PollInterval, LongestPoll: PollInterval,
		PhasesWait: submit.PhasesWait, Status: submit.StatusPage{URL: s.running.URL(string(platform.WorkloadStatus))},
		Progress: s.log.Writer(),
	})
	if err != nil {
		if result.StepID == "" {
			return nil, fmt.Errorf("job orders.py: %w", err)
		}
		return &result, fmt.Errorf("job orders.py: %w", err)
	}
	s.log.Printf("job orders.py: %s", result.State)
	for _, of := range result.Phases {
		s.log.Printf("job orders.py: %s", of)
	}
	return &result, nil
}
