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
	return r.hasOwnName(name) && len(platform.MissingTags(tags, platform.StackTags(r.config.Stack))) == 0
}

// hasOwnName reports whether a name is one that the stack gives to clusters.
func (r *ClusterReader) hasOwnName(name string) bool {
	return r.config.Stack != "" && strings.HasPrefix(name, platform.ClusterNamePrefix(r.config.Stack))
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
	// listAge is how old the list of clusters may be. A cluster of the stack that never reports
	// is found by it alone. relistAge is how old it may be once another cluster reports.
	listAge   = 2 * time.Minute
	relistAge = 30 * time.Second

	// endedFor is how long a cluster that has ended is listed.
	endedFor = 24 * time.Hour

	// maxClusterPages bounds the pages of each list. Two lists stay within what EMR takes at once
	// (profiler/source, 20 calls of a kind).
	maxClusterPages = 8
	clustersPerPage = 50 // EMR API Reference, ListClusters
)

// clusterListing is what EMR last listed.
type clusterListing struct {
	at       time.Time
	names    map[string]string // by id; nil before the first answer
	missing  map[string]bool   // ids that reported then, and that EMR did not list
	err      error
	failures int // in a row
}

// list returns the names of the clusters that EMR lists, by id: those that run, and those that
// were started lately. It returns an older listing with an error. EMR lists no tags, so each of
// the stack's own clusters counts as such only once it is described.
func (r *ClusterReader) list(ctx context.Context, reporting []string, now time.Time) (map[string]string, error) {
	last := &r.listing
	unknown := slices.DeleteFunc(slices.Clone(reporting), func(id string) bool {
		return last.names[id] != "" || !platform.IsClusterID(id) || r.Lists(id)
	})
	if now.Before(last.at.Add(last.age(unknown))) {
		return last.names, last.err
	}
	names := map[string]string{}
	err := r.addListed(ctx, names, &emr.ListClustersInput{ClusterStates: []types.ClusterState{
		types.ClusterStateStarting, types.ClusterStateBootstrapping, types.ClusterStateRunning, types.ClusterStateWaiting,
		types.ClusterStateTerminating,
	}})
	if err == nil || errors.Is(err, errMoreClusters) {
		err = errors.Join(err, r.addListed(ctx, names, &emr.ListClustersInput{
			ClusterStates: []types.ClusterState{types.ClusterStateTerminated, types.ClusterStateTerminatedWithErrors},
			CreatedAfter:  aws.Time(now.Add(-endedFor)),
		}))
	}
	last.at, last.err, last.missing = now, err, map[string]bool{}
	for _, id := range unknown {
		last.missing[id] = true
	}
	if last.failures++; err == nil || errors.Is(err, errMoreClusters) {
		last.names, last.failures = names, 0
	}
	return last.names, err
}

// age is how old the listing may be, if EMR is to be asked about ids that it lacks. Each failure
// doubles the wait, as for a cluster.
func (l *clusterListing) age(unknown []string) time.Duration {
	switch {
	case l.failures > 0:
		return min(slowestRetry, firstRetry<<min(l.failures-1, 8))
	case slices.ContainsFunc(unknown, func(id string) bool { return !l.missing[id] }):
		return relistAge
	}
	return listAge
}

// addListed adds the names of the clusters that EMR lists.
func (r *ClusterReader) addListed(ctx context.Context, names map[string]string, input *emr.ListClustersInput) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	pages := emr.NewListClustersPaginator(r.client, input)
	for page := 0; pages.HasMorePages(); page++ {
		if page == maxClusterPages {
			return errMoreClusters
		}
		listed, err := pages.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("list the clusters: %w", withoutRequest(err))
		}
		for _, found := range listed.Clusters {
			names[aws.ToString(found.Id)] = cmp.Or(aws.ToString(found.Name), aws.ToString(found.Id))
		}
	}
	return nil
}

var errMoreClusters = fmt.Errorf("EMR lists more than %d clusters: it is asked about the others one by one",
	maxClusterPages*clustersPerPage)
