package main

import (
	"cmp"
	"context"
	"io"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/platform"
	"github.com/emr-observatory/emr-observatory/stacks/outputs"
	"github.com/emr-observatory/emr-observatory/submit"
)

// defaults fills in the id of the cluster and the bucket from the stack's outputs, where
// no flag sets them: those in a file, or else those of the local cloud, if one runs. Of
// the local cloud it also fills in the URL of the status page.
func defaults(ctx context.Context, s *settings, file string, stdin io.Reader, o *submit.Options) error {
	if file != "" {
		out, err := readOutputs(file, stdin)
		if err != nil {
			return err
		}
		return fromOutputs(out, o)
	}
	state, err := s.stateDir()
	if err != nil {
		return err
	}
	running, isLocal, err := local.Connect(state)
	if err != nil || !isLocal {
		return err
	}
	o.Status.URL = cmp.Or(o.Status.URL, running.URL(string(platform.WorkloadStatus)))
	o.PollInterval, o.LongestPoll = local.PollInterval, local.PollInterval
	p, err := s.platform()
	if err != nil {
		return err
	}
	out, err := p.Outputs(ctx, running)
	if err != nil {
		return err
	}
	return fromOutputs(out, o)
}

// fromOutputs resolves the cluster's name, and takes the bucket. An id may be that of a
// cluster that others started.
func fromOutputs(out outputs.Outputs, o *submit.Options) error {
	o.Bucket = cmp.Or(o.Bucket, out.DataBucket)
	if platform.IsClusterID(o.Cluster) {
		return nil
	}
	cluster, err := out.FindCluster(o.Cluster)
	o.Cluster = cluster.ID
	return err
}
