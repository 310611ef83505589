package status

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/emr"
	"github.com/aws/aws-sdk-go-v2/service/emr/types"

	"github.com/emr-observatory/emr-observatory/platform"
)

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
