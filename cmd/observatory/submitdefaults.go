package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/emr-observatory/emr-observatory/internal/local"
	"github.com/emr-observatory/emr-observatory/localcloud"
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
	running, isLocal, err := connect(s, o)
	if err != nil || !isLocal {
		return err
	}
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

// connect points the AWS clients at the local cloud, if one runs, and follows steps as it
// allows. Without one, a cluster must be named by its id.
func connect(s *settings, o *submit.Options) (running localcloud.Running, isLocal bool, err error) {
	state, err := s.stateDir()
	if err != nil {
		return running, false, err
	}
	running, isLocal, err = local.Connect(state)
	switch {
	case err != nil:
		return running, false, err
	case !isLocal && !platform.IsClusterID(o.Cluster):
		return running, false, errNoCluster(state, o.Cluster)
	case !isLocal:
		return running, false, nil
	}
	o.Status.URL = cmp.Or(o.Status.URL, running.URL(string(platform.WorkloadStatus)))
	o.PollInterval, o.LongestPoll = local.PollInterval, local.PollInterval
	return running, true, nil
}

// errNoCluster says how to name a cluster where no local cloud has one.
func errNoCluster(state, cluster string) error {
	given := "name a cluster of AWS with --cluster j-…"
	if cluster != "" {
		given = fmt.Sprintf("name the cluster of AWS %q by its id, --cluster j-…", cluster)
	}
	return fmt.Errorf("no local cloud runs (state folder %s): start one with `make up`, or %s, or by its name with --outputs (`%s > FILE`)",
		state, given, writeOutputs)
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
