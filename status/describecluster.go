package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"
	"github.com/aws/smithy-go"

	"github.com/emr-observatory/emr-observatory/platform"
)

// describe asks EMR about one cluster. That EMR does not know it, or that the control
// node may not ask, is an answer, too: then its id is its name.
func (r *ClusterReader) describe(ctx context.Context, id string) (EMRCluster, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	out, err := r.client.DescribeCluster(ctx, &emr.DescribeClusterInput{ClusterId: aws.String(id)})
	var answer smithy.APIError
	switch {
	case errors.As(err, &answer) && isDefinite(answer):
		return EMRCluster{ID: id, Name: id, Unknown: withoutRequest(err).Error()}, nil
	case err != nil:
		return EMRCluster{}, fmt.Errorf("describe cluster %s: %w", id, withoutRequest(err))
	case out.Cluster == nil:
		return EMRCluster{ID: id, Name: id, Unknown: "EMR's answer has no cluster"}, nil
	}
	return r.newCluster(id, *out.Cluster), nil
}

// withoutRequest leaves the request's id out of EMR's answer: it would make one problem many.
func withoutRequest(err error) error {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return fmt.Errorf("%s: %s", answer.ErrorCode(), answer.ErrorMessage())
	}
	return err
}

// isDefinite tells an answer that another attempt does not change from a failure: EMR
// says InvalidRequestException of an id that it does not know.
func isDefinite(answer smithy.APIError) bool {
	return strings.HasPrefix(answer.ErrorCode(), "AccessDenied") || answer.ErrorCode() == "InvalidRequestException"
}

func (r *ClusterReader) newCluster(id string, c types.Cluster) EMRCluster {
	tags := map[string]string{}
	for _, tag := range c.Tags {
		tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
	}
	out := EMRCluster{
		ID: id, Name: cmp.Or(strings.TrimSpace(aws.ToString(c.Name)), id), Release: aws.ToString(c.ReleaseLabel),
		Own: r.isOwn(aws.ToString(c.Name), tags),
	}
	out.Unread = unread(id, platform.MissingTags(tags, r.config.HistoryTags), c.Status != nil && isEnded(c.Status.State))
	if c.Status == nil {
		return out
	}
	out.State = c.Status.State
	if reason := c.Status.StateChangeReason; reason != nil && (isEnded(out.State) || out.State == types.ClusterStateTerminating) {
		out.Reason = cmp.Or(aws.ToString(reason.Message), string(reason.Code))
	}
	if timeline := c.Status.Timeline; timeline != nil {
		out.Ended = aws.ToTime(timeline.EndDateTime)
	}
	return out
}

// isOwn reports whether the stack started a cluster. Those of others may have its tags, but
// names of their own.
func (r *ClusterReader) isOwn(name string, tags map[string]string) bool {
	return r.config.Stack != "" && strings.HasPrefix(name, platform.ClusterNamePrefix(r.config.Stack)) &&
		len(platform.MissingTags(tags, platform.StackTags(r.config.Stack))) == 0
}

// unread says why the profiler does not read a cluster's history; "" if it lacks no tag.
func unread(id string, missing map[string]string, ended bool) string {
	switch {
	case len(missing) == 0:
		return ""
	case ended:
		return "it ended without " + strings.Join(platform.TagPairs(missing), " ") + "; give these tags to the next one"
	}
	return "it lacks tags; run `" + platform.AddTagsCommand(id, missing) + "`"
}

// addBootstrap reads the bootstrap actions of a cluster once: they never change.
func (r *ClusterReader) addBootstrap(ctx context.Context, kept clusterReading, now time.Time) clusterReading {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	out, err := r.client.ListBootstrapActions(ctx, &emr.ListBootstrapActionsInput{ClusterId: aws.String(kept.cluster.ID)})
	if err != nil {
		err = fmt.Errorf("list the bootstrap actions of cluster %s: %w", kept.cluster.ID, withoutRequest(err))
		return kept.after(EMRCluster{}, err, now)
	}
	kept.cluster.BootstrapRead = true
	for _, action := range out.BootstrapActions {
		if hash := r.hashOf(action.Args); hash != "" {
			kept.cluster.BootstrapHash = hash
		}
	}
	return kept
}

// hashOf returns the hash among the arguments of a bootstrap action, "" if the action is
// not this platform's: its arguments are the control node, the artifacts' URI, the hash and
// perhaps platform.BootstrapHostsOnly.
func (r *ClusterReader) hashOf(args []string) string {
	if n := len(args); (n == 3 || n == 4 && args[3] == platform.BootstrapHostsOnly) && args[1] == r.config.S3Paths.Artifacts {
		return args[2]
	}
	return ""
}

const (
	// ownAge is how old the list of the stack's own clusters may be. A cluster that
	// never reports is found by it alone.
	ownAge = 2 * time.Minute

	// endedFor is how long a cluster that has ended is listed.
	endedFor = 24 * time.Hour

	maxClusterPages = 4 // of 50 clusters; the account may have more, of others
)

// ownClusters are the clusters that EMR last listed under names of the stack.
type ownClusters struct {
	next time.Time // when EMR is asked again
	ids  []string
	err  error
}

// listOwn returns the ids of the clusters whose names say that they are the stack's
// own: those that run, and those that ended lately. EMR lists no tags, so each counts as
// own only once it is described.
func (r *ClusterReader) listOwn(ctx context.Context, now time.Time) ([]string, error) {
	if r.config.Stack == "" || now.Before(r.own.next) {
		return r.own.ids, r.own.err
	}
	r.own.next = now.Add(ownAge)
	running, err := r.listNamed(ctx, &emr.ListClustersInput{ClusterStates: []types.ClusterState{
		types.ClusterStateStarting, types.ClusterStateBootstrapping, types.ClusterStateRunning, types.ClusterStateWaiting,
		types.ClusterStateTerminating,
	}})
	if err == nil {
		var ended []string
		ended, err = r.listNamed(ctx, &emr.ListClustersInput{
			ClusterStates: []types.ClusterState{types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors},
			CreatedAfter:  aws.Time(now.Add(-endedFor)),
		})
		running = append(running, ended...)
	}
	if r.own.err = err; err == nil {
		r.own.ids = running
	}
	return r.own.ids, r.own.err
}

func (r *ClusterReader) listNamed(ctx context.Context, input *emr.ListClustersInput) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var ids []string
	pages := emr.NewListClustersPaginator(r.client, input)
	for range maxClusterPages {
		if !pages.HasMorePages() {
			break
		}
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the stack's clusters: %w", withoutRequest(err))
		}
		for _, found := range page.Clusters {
			if strings.HasPrefix(aws.ToString(found.Name), platform.ClusterNamePrefix(r.config.Stack)) {
				ids = append(ids, aws.ToString(found.Id))
			}
		}
	}
	slices.Sort(ids)
	return ids, nil
}
